"""verb."""
