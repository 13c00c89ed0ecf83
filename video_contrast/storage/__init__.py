"""Sets and runs on disk: the only code that knows the name of a file or a column."""
