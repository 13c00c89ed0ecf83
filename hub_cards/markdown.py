"""The parts of all cards: text into markdown that shows it as it is, and the templates."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from video_contrast.files import Json

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")


def literal(text: object) -> str:
    r"""Any text as markdown that shows these very characters: no markup, no link, no table cell is broken.

    >>> literal("a *bold* <b>claim</b> | [x](y)")
    'a \\*bold\\* &lt;b&gt;claim&lt;/b&gt; \\| \\[x\\](y)'
    """
    one_line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def words(name: object) -> str:
    """A name of the code as words.

    >>> words("captions_tried")
    'captions tried'
    """
    return str(name).replace("_", " ")


def bullets(value: Json, indent: int = 0) -> str:
    r"""Nested facts as a nested list; empty values are left out.

    >>> print(bullets({"limit": 30, "models": {"encoder": "all-MiniLM"}, "none": []}))
    - limit: 30
    - models:
      - encoder: all-MiniLM
    """
    lines = []
    for key, inner in value.items():
        if inner is None or inner == [] or inner == {} or inner == "":
            continue
        head = f"{'  ' * indent}- {literal(words(key)) if indent else words(key)}:"
        if isinstance(inner, Mapping):
            lines += [head, bullets(inner, indent + 1)]
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            if all(isinstance(entry, str | int | float) for entry in inner):
                lines.append(f"{head} {', '.join(_plain(entry) for entry in inner)}")
            else:
                lines += [head, *(f"{'  ' * (indent + 1)}- {_plain(entry)}" for entry in inner)]
        else:
            lines.append(f"{head} {_plain(inner)}")
    return "\n".join(line for line in lines if line)


def render(template: str, **facts: object) -> str:
    """A template of this folder with the facts."""
    return str(_environment().get_template(template).render(**facts))


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else literal(value)


@cache
def _environment() -> Any:  # jinja2's `Environment`: jinja2 is imported at first use
    import jinja2

    loader = jinja2.FunctionLoader(lambda name: (files(__package__) / name).read_text(encoding="utf-8"))
    environment = jinja2.Environment(loader=loader, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(literal=literal, words=words, bullets=bullets)
    return environment
