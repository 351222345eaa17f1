"""Where on a page a value is printed, and how."""
