"""What the sandbox of a parser child is made of, one file for each thing that the kernel can be asked to refuse."""
