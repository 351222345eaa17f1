"""One module a format, named like the format's own: `build(pages)` gives a file in which each text is on its page."""
