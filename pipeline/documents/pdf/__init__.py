"""PDF: two parsers, what a page looks like, whether it must be recognised, and what it is laid out as."""
