"""doclease: documents in, rows out, on leases that survive anything."""
