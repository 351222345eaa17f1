"""One file a document type: a module here that ends in `handler: Handler = …` is found by itself."""
