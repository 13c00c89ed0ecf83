"""The command line of a benchmark: its docstring is the help."""

import argparse


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """Returns a parser whose help begins with the docstring of a benchmark, as it stands."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
