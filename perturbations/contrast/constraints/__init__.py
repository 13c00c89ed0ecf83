"""Constraints on contrast captions, one a file: they accept or say why not."""
