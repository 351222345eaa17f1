"""Reading printed invoices: who, how much, when, and the lines between."""
