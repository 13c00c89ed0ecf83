"""Parts of benchmarks/preferences.py."""
