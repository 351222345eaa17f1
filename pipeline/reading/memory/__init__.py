"""What people corrected on an issuer's documents, used on the next one."""
