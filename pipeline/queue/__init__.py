"""A task queue on PostgreSQL whose claims are expiring leases. It could serve another project."""
