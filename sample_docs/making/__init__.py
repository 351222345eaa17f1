"""What make_samples.py draws and writes: the texts as data, and the layouts that print them."""
