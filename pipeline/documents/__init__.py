"""Files and their text: what a file is, where its bytes are kept, what its pages say. Knows nothing of the queue."""
