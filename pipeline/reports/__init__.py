"""The reading side: what the tables say, told to people and programs. Writes nothing but a retry or a cancellation."""
