"""The parts of a page: sections of tables and figures. Sections know numbers; the template knows looks."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from video_contrast.reports.spreadsheet import to_csv

LONGEST_NAME = 120  # characters of a file's name, without its ending
Tone = Literal["", "good", "bad", "quiet", "best"]


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str  # with numbers already formatted
    value: float | None = None  # the number itself in 0..100, where a bar is to be drawn
    low: float | None = None  # lower end of its 95 % interval
    high: float | None = None  # upper end
    chance: float | None = None  # value of a scorer that knows nothing; a tick on the bar
    human: float | None = None  # value of people; a tick on the bar
    tone: Tone = ""  # "good", "bad" or "quiet"
    note: str = ""  # shown small under the text
    link: str = ""  # target of the text; a relative path or a web address


DASH = Cell("–", tone="quiet")


@dataclass(frozen=True)
class Column:
    """A column: its heading, whether it holds numbers, and what the heading means."""

    name: str
    numeric: bool = True
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption; `name` is the stem of its CSV file."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    group: str = ""  # parts of one group are shown together; a section with several groups shows one at a time
    folded: str = ""  # the heading under which it is shown when asked for

    @property
    def few(self) -> bool:
        """Whether it has so few columns that they would stand too far apart over the whole page."""
        return len(self.columns) <= 3

    @property
    def csv(self) -> str:
        """The table as CSV; a number with an interval becomes three columns."""
        lines: list[list[str]] = [[] for _ in range(1 + len(self.rows))]
        for column, *cells in zip(self.columns, *self.rows, strict=True):
            texts_of = [[cell.text] if cell.value is None else [_number(cell.value)] for cell in cells]
            names = [column.name]
            if any(cell.low is not None for cell in cells):
                names += [f"{column.name} low", f"{column.name} high"]
                ends = [[_number(cell.low), _number(cell.high)] for cell in cells]
                texts_of = [own + both for own, both in zip(texts_of, ends, strict=True)]
            for line, texts in zip(lines, [names, *texts_of], strict=True):
                line += texts
        return to_csv(lines)


@dataclass(frozen=True)
class Plot:
    """A plot: an SVG whose colours follow the page, a PNG, and the numbers that it shows."""

    name: str
    caption: str
    svg: str
    png: Callable[[], bytes]  # on white paper; drawn only where files are asked for: it costs as much as the SVG
    csv: str
    wide: bool = False
    small: bool = False
    group: str = ""
    narrow: str = ""  # another SVG of the same, for phones

    @property
    def file_svg(self) -> str:
        """The plot as an SVG file for papers and slides: fixed colours and size, no variables of the page."""
        plain = re.sub(r"var\(--font, ([\w-]+)\)", r"\1", self.svg)
        plain = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", plain)
        return re.sub(r'(<svg [^>]*?)style="[^"]*"', r"\1", plain, count=1)


@dataclass
class Section:
    """A part of the page with a heading and an anchor."""

    anchor: str
    title: str
    lead: str = ""
    parts: list[Table | Plot] = field(default_factory=list)
    leads: bool = False  # its wide plots stand before its tables

    @classmethod
    def of(cls, anchor: str, *parts: Table | Plot) -> "Section":
        """A section with the title and the lead that `sections.tsv` has for its anchor."""
        lines = Path(__file__).with_name("sections.tsv").read_text(encoding="utf-8").splitlines()
        title, lead = next(rest for own, *rest in (line.split("\t") for line in lines) if own == anchor)
        return cls(anchor, title, lead, list(parts))

    @property
    def tables(self) -> list[Table]:
        """The tables of the section."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def figures(self) -> list[Plot]:
        """The figures of the section."""
        return [part for part in self.parts if isinstance(part, Plot)]

    @property
    def groups(self) -> list["Section"]:
        """The section cut by the groups of its parts, in their order; the title of each is the group's name."""
        names = dict.fromkeys(part.group for part in self.parts)
        return [
            Section(f"{self.anchor}-{number}", name, parts=[part for part in self.parts if part.group == name])
            for number, name in enumerate(names)
        ]

    def add(self, parts: Iterable[Table | Plot], group: str = "") -> None:
        """Appends parts as members of a group."""
        self.parts += [replace(part, group=group) for part in parts]


def with_own_names(sections: Sequence[Section]) -> list[Section]:
    """The sections; parts whose files would have one name, or a name too long for a file, get one of their own.

    >>> table = Table("kinds-a-b", "Accuracy", [], [])
    >>> [part.name for part in with_own_names([Section("kinds", "Kinds", parts=[table, table])])[0].parts]
    ['kinds-a-b', 'kinds-a-b-2']
    """
    names_taken: set[str] = set()

    def own(name: str) -> str:
        short = name[:LONGEST_NAME]
        names = (f"{short}-{number}" if number > 1 else short for number in itertools.count(1))
        free = next(each for each in names if each.lower() not in names_taken)  # some file systems know no capitals
        names_taken.add(free.lower())
        return free

    return [replace(section, parts=[_renamed(part, own(part.name)) for part in section.parts]) for section in sections]


def _renamed(part: Table | Plot, name: str) -> Table | Plot:
    if name == part.name or isinstance(part, Table):
        return replace(part, name=name)
    # the ids within a drawing begin with its name (`figures.finish`)
    ids = re.compile(rf'(id="|url\(#|href="#){re.escape(part.name)}-')
    svg, narrow = (ids.sub(lambda match: f"{match[1]}{name}-", drawn) for drawn in (part.svg, part.narrow))
    return replace(part, name=name, svg=svg, narrow=narrow)


def percent(share: float) -> str:
    """A share in percent, rounded as in the tables: "51.0 %"."""
    return f"{100 * share:.1f} %"


def ends(low: float | None, high: float | None, form: str = " [{:.1f}, {:.1f}]") -> str:
    """The ends of an interval in percent; "" where there is none."""
    return "" if low is None or high is None else form.format(100 * low, 100 * high)


def share_cell(
    share: float | None, low: float | None = None, high: float | None = None, *, chance: float | None = None,
    human: float | None = None, tone: Tone = "", note: str = "",
) -> Cell:  # fmt: skip
    """A share as a cell in percent; a dash where it was not measured. `human`: share of people, in percent."""
    if share is None:
        return DASH
    low, high, chance = (None if value is None else 100 * value for value in (low, high, chance))
    return Cell(f"{100 * share:.1f}", 100 * share, low, high, chance, human=human, tone=tone, note=note)


def row(*values: Cell | str | None) -> list[Cell]:
    """A row of a table: texts become cells, None a dash."""
    return [value if isinstance(value, Cell) else DASH if value is None else Cell(value) for value in values]


def columns(*names: Column | str, words: int = 1) -> list[Column]:
    """The columns of a table, of which the first `words` hold words and the others numbers."""
    return [n if isinstance(n, Column) else Column(n, numeric=at >= words) for at, n in enumerate(names)]


def signed(value: float) -> str:
    """A difference in points with its sign, one decimal; nothing is neither more nor less.

    >>> signed(1.25), signed(-3.0), signed(-0.01)
    ('+1.2', '−3.0', '0.0')
    """
    text = f"{value:+.1f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
