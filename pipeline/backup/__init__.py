"""Backups: the database as of one moment, a list of the files it speaks of, and if wanted the files themselves."""
