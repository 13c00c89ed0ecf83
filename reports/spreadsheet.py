"""Tables as CSV for spreadsheets, which show what begins as a formula and do not run it."""

import csv
import io
import re
from collections.abc import Sequence

_FORMULA = re.compile(r"'*(?:[=+@\t\r]|-(?!\d+(\.\d+)?(e[+-]?\d+)?$))")  # text that a spreadsheet would take for one


def to_csv(lines: Sequence[Sequence[object]]) -> str:
    """Rows as CSV text.

    >>> to_csv([["name", "value"], ["a, b", 0.5]])
    'name,value\\n"a, b",0.5\\n'
    """
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows([[no_formula(value) for value in line] for line in lines])
    return sink.getvalue()


def no_formula(value: object) -> object:
    """A cell that a spreadsheet shows and does not run: text that begins as a formula, with an apostrophe before it.

    >>> no_formula("=SUM(A1)"), no_formula("a = b"), no_formula(-2.5)
    ("'=SUM(A1)", 'a = b', -2.5)
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
