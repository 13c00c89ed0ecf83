"""`video-contrast list builders|perturbations|metrics|models`: what there is, and what each needs."""

import json
import shutil
import sys
import textwrap
from typing import Annotated, Literal

from video_contrast.commands.command import command
from video_contrast.console import AsJson
from video_contrast.errors import unknown_name
from video_contrast.options import describe, options_of

What = Literal["builders", "perturbations", "metrics", "models"]
Row = dict[str, str]


@command("list", "video-contrast list models generative")
def list_(
    what: Annotated[What, "what to list"],
    name: Annotated[str | None, "only this entry; of a model kind or builder with its options"] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List what there is and what each needs (data, a checkpoint, nothing)."""
    rows = {"builders": builders, "perturbations": perturbations, "metrics": metrics, "models": models}[what]()
    if name is not None:
        names = [row["name"] for row in rows]
        rows = [row for row in rows if name in (row["name"], row["name"].partition(":")[2])][:1]  # without "text:", too
        if not rows:
            raise unknown_name(what[:-1], name, names)
        rows[0] |= _options(what, rows[0]["name"])
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        _print(rows)


def _options(what: What, name: str) -> Row:
    """The flags of `score` that a model kind adds, or those of `build NAME`, each with the whole of its text."""
    if what == "models":
        from video_contrast.runner.kinds import all_kinds

        return {option.flag_name: describe(option) for option in all_kinds()[name].options}
    if what != "builders":
        return {}
    from video_contrast.builders import get_builder

    options = options_of(get_builder(name).function).values()
    return {option.flag_name: describe(option) for option in options if not option.positional}


def builders() -> list[Row]:
    """One row a builder."""
    from video_contrast.builders import all_builders

    ours = all_builders().values()
    return [{"name": b.name, "what": b.summary, "configs": ", ".join(b.configs), "needs": b.requirements} for b in ours]


def perturbations() -> list[Row]:
    """One row a perturbation: the text ones, then the visual ones."""
    import video_contrast.perturbations.text
    import video_contrast.perturbations.video  # noqa: F401  fills the registry
    from video_contrast.perturbations.registry import TEXT, VIDEO
    from video_contrast.perturbations.text import how_to_get

    rows: list[tuple[str, ...]] = []
    rows += [(f"text:{s.name}", s.category, s.origin, s.summary, how_to_get(s)) for s in TEXT.values()]
    rows += [(f"visual:{s.name}", s.category, s.acts, s.summary, "nothing") for s in VIDEO.values()]
    return [dict(zip(("name", "category", "origin", "what", "needs"), row, strict=True)) for row in rows]


def metrics() -> list[Row]:
    """One row an `evaluate` module."""
    from video_contrast.metrics.evaluate_modules import MODULES

    return [{"name": m.name, "type": m.kind, "what": m.summary, "needs": m.needs} for m in MODULES.values()]


def models() -> list[Row]:
    """One row a model kind: its name, the classes it takes, and what it needs."""
    from video_contrast.runner.kinds import all_kinds

    ours = all_kinds().values()
    return [{"name": k.name, "what": k.summary, "classes": ", ".join(k.classes), "needs": k.requirements} for k in ours]


def _print(rows: list[Row]) -> None:
    """One entry a row: its name (bold in a terminal) and what it is, then its other fields, indented."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    for row in rows:
        entry = textwrap.fill(f"{row['name']}  {row['what']}", width, subsequent_indent="    ")
        name = f"\x1b[1m{row['name']}\x1b[0m" if sys.stdout.isatty() else row["name"]
        print(name + entry.removeprefix(row["name"]))
        for field, value in row.items():
            if field not in ("name", "what") and value:
                print(textwrap.fill(f"{field}: {value}", width, initial_indent="    ", subsequent_indent="        "))
