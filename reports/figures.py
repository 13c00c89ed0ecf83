"""The one style of all plots: thin lines, few colours, no frame; an SVG that follows the page's theme, and a PNG.

Matplotlib draws with fixed colours; in the SVG each of them becomes a variable of the page's style sheet, so a plot
turns dark with the page. Equal numbers give equal bytes.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from video_contrast.reports.layout import Plot
from video_contrast.reports.spreadsheet import to_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# colour on white paper -> variable of page.css; each is distinct, since the SVG is rewritten by the value
INK = "#20262d"
MUTED = "#6b7480"
FAINT = "#d9dde2"
PAPER = "#fffffe"
SERIES = ("#1f6f8b", "#c8622d", "#4b1f7a", "#2f9e7a", "#3f7cf5", "#5e2b20", "#a08400", "#b8488f")
# Red-blind and green-blind readers tell the first five colours apart (tests/test_report_colours.py). Shapes do the rest
# and where there are more series than colours: no two of the first 56 share both.
_SHAPES = "osD^vPX"
_LONGEST = 46  # characters of a name in a legend
_VARIABLES = {colour: f"--s{number}" for number, colour in enumerate(SERIES)}
_VARIABLES |= {INK: "--ink", MUTED: "--muted", FAINT: "--rule", PAPER: "--paper"}
_SHADE = (31, 126, 158)
Numbers = Sequence[Sequence[object]]  # rows of a CSV file, the heading first
Setting = Any  # of matplotlib, each of its own type
Drawing = tuple["Canvas", Any]  # and its axes: one, or an array of them
WIDTH = 4.1  # inches of a plot that fills half of the page: on a phone its letters are 11 pixels high
_STYLE = str(Path(__file__).with_name("plots.mplstyle"))
_LETTER = 0.62 * 10  # the mean width of a letter of the legend, in points


def colour(number: int) -> str:
    """The colour of the n-th series."""
    return SERIES[number % len(SERIES)]


def shape(number: int) -> str:
    """The marker of the n-th series."""
    return _SHAPES[number % len(_SHAPES)]


def hatch(number: int) -> str | None:
    """The hatching of the n-th series' bars, where its colour is that of an earlier one."""
    return "////" if number >= len(SERIES) else None


def legend(canvas: "Canvas", handles: Sequence[Any] | None = None) -> None:  # lines, bars: no common class
    """Puts the legend above the plot, in as many columns as the longest name leaves; the canvas grows by its lines.

    `canvas`: from `drawing`. `handles`: what to name; by default everything that has a label.
    """
    named = list(handles or [handle for axes in canvas.axes for handle in axes.get_legend_handles_labels()[0]])
    if not named:
        return
    room = 72 * canvas.get_figwidth() - 12
    labels = [elided(str(handle.get_label()), min(_LONGEST, int((room - 34) / _LETTER))) for handle in named]
    columns = max(1, min(len(named), int(room / (_LETTER * max(map(len, labels)) + 34))))
    lines = -(-len(named) // columns)
    canvas.set_figheight(canvas.get_figheight() + 0.18 * (lines - 1))
    canvas.legend(named, labels, loc="outside upper left", ncols=columns, handlelength=1.2, handletextpad=0.5,
                  columnspacing=1.4)  # fmt: skip


def elided(name: str, length: int = 28) -> str:
    """A name of at most `length` characters; a longer one loses its middle, since beginning and end tell names apart.

    >>> elided("microsoft/xclip-base-patch16-zero-shot", 21)
    'microsoft/…-zero-shot'
    """
    if len(name) <= length:
        return name
    end = (length - 1) // 2
    return f"{name[: length - 1 - end]}…{name[len(name) - end :]}"


def shaded(values: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
    """Values from 0 to 1, float[h, w], as a picture, uint8[h, w, 4]: from the bare page to one colour."""
    alpha = np.asarray(np.clip(values, 0, 1) ** 1.5 * 255, np.uint8)
    return np.dstack([np.full_like(alpha, channel) for channel in _SHADE] + [alpha])


@contextmanager
def drawing(
    width: float = WIDTH, height: float = 3.2, columns: int = 1, *, grid: str = "", **options: Setting
) -> Iterator[Drawing]:
    """Yields (canvas, axes) in the style of the report.

    `columns`: axes side by side; above 1 `axes` is an array. `grid`: where a faint one runs, "x", "y" or "both".
    `**options`: of `matplotlib.figure.Figure.subplots`.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(fname=_STYLE):
        canvas = Canvas(figsize=(width, height), layout="constrained")
        every = canvas.subplots(1, columns, **options)
        for axes in np.ravel(every) if grid else ():
            axes.grid(True, axis=grid)
        yield canvas, every


def finish(
    canvas: "Canvas", name: str, caption: str, numbers: Numbers, *, wide: bool = False, small: bool = False
) -> Plot:
    """The drawn canvas, with a legend if anything has a label, as a figure of the page. Call it inside of `drawing`.

    `name`: the stem of its files. `numbers`: what it shows. It is half as wide as the page, or as wide, or a third of
    that (`small`).
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    if not canvas.legends:
        legend(canvas)
    for ground in (canvas.patch, *(axes.patch for axes in canvas.axes)):  # the page is its ground
        ground.set_facecolor("none")
        ground.set_edgecolor("none")
    # `savefig` would draw everything twice: the first time only to lay it out
    svg = _written(FigureCanvasSVG(canvas).print_svg, metadata={"Date": None, "Creator": None}).decode("utf-8")
    png = partial(_written, canvas.savefig, format="png", dpi=144, facecolor="white", metadata={"Software": None})
    return Plot(name, caption, _inline(svg, name, caption), png=png, csv=to_csv(numbers), wide=wide, small=small)


def _written(write: Callable[..., object], **options: object) -> bytes:
    """The output of a method of matplotlib; letters of other scripts are the browser's, a PNG may lack them."""
    sink = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        write(sink, **options)
    return sink.getvalue()


def _inline(svg: str, name: str, caption: str) -> str:
    svg = svg[svg.index("<svg") :]
    # ids are made unique a figure, since all figures share one page
    svg = re.sub(r'\bid="([^"]+)"', lambda m: f'id="{name}-{m[1]}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{name}-{m[1]})", svg)
    svg = re.sub(r'href="#([^"]+)"', lambda m: f'href="#{name}-{m[1]}"', svg)
    for value, variable in _VARIABLES.items():
        svg = svg.replace(value, f"var({variable}, {value})")
    svg = svg.replace("'DejaVu Sans', 'DejaVu Sans',", "").replace("'DejaVu Sans'", "var(--font, sans-serif)")
    width = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', svg)
    if width:
        points = float(width[1])
        # on a phone a plot fits the screen; a wide one keeps letters that can be read, and scrolls
        least = min(points, 340 if points < 500 else 0.8 * points)
        svg = svg.replace(width[0], f'style="width:100%;max-width:{points * 1.45:.0f}px;min-width:{least:.0f}px"', 1)
    label = caption.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
