"""Taking files in: from the inbox or the command line into the store and the queue, and back to their last place.

`recipe` takes one file, `grouping` many; `watcher` works an inbox; `ingesting` serves the command line.
"""
