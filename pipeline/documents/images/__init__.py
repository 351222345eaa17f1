"""Pictures of any kind, made upright, white and of square pixels."""
