"""X-ray of a set: blind models, the blind audit and its refinement, checks of tables and videos."""
