"""contrast."""
