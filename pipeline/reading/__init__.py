"""Reading values out of text: small pure functions that handlers share. Knows pages and text, no type of document."""
