"""The queues that bench/recovery.py compares: an adapter each, and the stage on which all get the same faults."""
