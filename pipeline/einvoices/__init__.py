"""Electronic invoices: their XML to one model in the terms of EN 16931, that norm's rules, and the print beside it."""
