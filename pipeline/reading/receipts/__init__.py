"""Reading receipts of tills, where a model chooses among what the words around suggest."""
