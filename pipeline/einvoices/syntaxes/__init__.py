"""One file a syntax family, each ending in `syntax: Syntax = …`; pipeline.einvoices.reading finds them."""
