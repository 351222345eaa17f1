"""Workers: a parent that owns the database and the leases, and children that own the untrusted bytes."""
