"""Generators of contrast captions, one a file: they propose."""
