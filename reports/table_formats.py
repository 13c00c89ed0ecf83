"""Tables of figures for papers and pages: markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from video_contrast.reports.terminal import BEST, TableLine, table_rows

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$", **{sign: f"\\{sign}" for sign in "&%$#_{}"},
})  # fmt: skip


def markdown(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> str:
    r"""A table of markdown of the lines of `terminal.lines_of`; what is best is bold.

    >>> print(markdown([TableLine("verb_mc", 0.5, ["0.81 *", "0.60"])], ["a|b", "c"]))
    | | chance | a\|b | c |
    |---|---|---|---|
    | verb_mc | 0.50 | **0.81** | 0.60 |
    """
    head, *rows = _cells(
        lines, models, title, written=lambda text: re.sub(r"([\\|*<`])", r"\\\1", text), bold=lambda cell: f"**{cell}**"
    )
    barred = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in (head, *rows)]
    return "\n".join([barred[0], "|" + "---|" * len(head), *barred[1:]])


def latex(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> str:
    r"""A `tabular` of LaTeX with the rules of the package booktabs; what is best is bold.

    >>> print(latex([TableLine("verb_mc", 0.5, ["0.81 *", "0.60"])], ["a", "b"]))
    \begin{tabular}{lrrr}
    \toprule
     & chance & a & b \\
    \midrule
    verb\_mc & 0.50 & \textbf{0.81} & 0.60 \\
    \bottomrule
    \end{tabular}
    """
    cells = _cells(
        lines, models, title, written=lambda text: text.translate(_LATEX), bold=lambda cell: rf"\textbf{{{cell}}}"
    )
    head, *rows = [" & ".join(row) + r" \\" for row in cells]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(cells[0]) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])


def _cells(
    lines: Sequence[TableLine],
    models: Sequence[str],
    title: str,
    *,
    written: Callable[[str], str],
    bold: Callable[[str], str],
) -> list[list[str]]:
    """The head and the rows, each text as `written` escapes it."""
    best = f" {BEST}"
    return [
        [bold(written(cell.removesuffix(best))) if cell.endswith(best) else written(cell) for cell in row]
        for row in table_rows(lines, models, title)
    ]


FORMATS = {"markdown": markdown, "latex": latex}
