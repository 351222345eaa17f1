"""What a process of doclease tells Prometheus: its own counts, and gauges of the whole from one cheap look."""
