"""The shapes world: clips made on the spot whose captions are true by construction."""
