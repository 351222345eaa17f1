"""The measurements behind the figures in the documentation, each a command."""
