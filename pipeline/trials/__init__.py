"""Trials that a stranger can run: the demo, and the chaos that ends in a ledger. Real processes, real signals."""
