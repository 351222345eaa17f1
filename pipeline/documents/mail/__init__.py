"""Mails: their heads, their parts, and which of these are matter."""
