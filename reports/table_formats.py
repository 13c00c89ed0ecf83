"""A table as text for a terminal, as markdown and as LaTeX."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

BEST = "*"  # behind a cell
UNPARSEABLE = "unparseable: the share of items with an answer that cannot be read, the lowest of its item (! above 2 %)"
Style = Callable[[str], str]  # of the text of a cell


@dataclass(frozen=True)
class TableLine:
    """A line of a table."""

    name: str  # of the measure
    chance: float | None  # the level of chance; None where there is none
    cells: list[str]  # one a model
    n: int | None = None  # items that all models were scored on; None where these differ, and each cell has its own
    digits: int = 2  # of the level of chance


def side_columns(lines: Sequence[TableLine]) -> list[tuple[str, list[str]]]:
    """The columns between the names and the models, each with its title: chance and n, where any line has them."""
    columns = [
        ("chance", ["" if line.chance is None else f"{line.chance:.{line.digits}f}" for line in lines]),
        ("n", ["" if line.n is None else f"{line.n:,}" for line in lines]),
    ]
    return [(title, cells) for title, cells in columns if any(cells)]


def table_rows(lines: Sequence[TableLine], models: Sequence[str], title: str) -> list[list[str]]:
    """The head of a table and its rows as text; chance and n only where a line has one."""
    sides = side_columns(lines)
    rows = [[line.name, *(cells[at] for _, cells in sides), *line.cells] for at, line in enumerate(lines)]
    return [[title, *(head for head, _ in sides), *models], *rows]


def show(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> None:
    """Prints the table; it is wider than 80 columns where it must be, rather than broken. `lines`: of `lines_of`."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    head, *rows = table_rows(lines, models, title)
    for at, name in enumerate(head):
        table.add_column(Text(name), justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell, "bold" if cell.endswith(BEST) else "") for cell in row))
    width = Console(width=1000).measure(table).maximum
    Console(width=max(width, Console().width)).print(table)
    if any(cell.endswith(BEST) for line in lines for cell in line.cells):
        print(f"{BEST} better than every other model on the items of both (paired sign-flip test, p < .05)")
    if any("unparseable" in cell for line in lines for cell in line.cells):
        print(UNPARSEABLE)


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$", **{sign: f"\\{sign}" for sign in "&%$#_{}"},
})  # fmt: skip


def markdown(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> str:
    r"""A table of markdown of lines (`table_lines.lines_of`); what is best is bold.

    >>> print(markdown([TableLine("verb_mc", 0.5, ["0.81 *", "0.60"])], ["a|b", "c"]))
    | | chance | a\|b | c |
    |---|---|---|---|
    | verb_mc | 0.50 | **0.81** | 0.60 |
    """
    head, *rows = _cells(
        lines, models, title, written=lambda text: re.sub(r"([\\|*<`])", r"\\\1", text), bold=lambda cell: f"**{cell}**"
    )
    rows_of_text = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in (head, *rows)]
    return "\n".join([rows_of_text[0], "|" + "---|" * len(head), *rows_of_text[1:]])


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
    cells = _cells(lines, models, title, written=lambda t: t.translate(_LATEX), bold=lambda t: rf"\textbf{{{t}}}")
    head, *rows = [" & ".join(row) + r" \\" for row in cells]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(cells[0]) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])


def _cells(
    lines: Sequence[TableLine], models: Sequence[str], title: str, *, written: Style, bold: Style
) -> list[list[str]]:
    """The head and the rows, each text as `written` escapes it."""
    best = f" {BEST}"
    return [
        [bold(written(cell.removesuffix(best))) if cell.endswith(best) else written(cell) for cell in row]
        for row in table_rows(lines, models, title)
    ]


FORMATS = {"markdown": markdown, "latex": latex}
