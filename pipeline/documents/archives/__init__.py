"""ZIP archives: their table of contents, their entries, their locks."""
