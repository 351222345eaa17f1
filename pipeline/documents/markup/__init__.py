"""HTML and XML as text, electronic invoices among it."""
