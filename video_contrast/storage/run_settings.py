"""With what a figure was made, in words: what must stand beside a number for others to compare theirs."""

from __future__ import annotations

from typing import Any

from video_contrast.storage.run_records import RunRecord

_POLICIES = {"uniform": "middles of equal segments", "linspace": "first to last", "head": "the first ones"}
# Of a model's facts, those on which its figures depend most, as they are called in the record.
_FACTS = (
    "pooling",
    "itm_aggregate",
    "scoring",
    "readout",
    "norm",
    "rotations",
    "prompt_text",
    "prompt_video",
    "prompt",
)
_LONGEST = 160  # characters of a prompt


def setting_lines(record: RunRecord) -> list[str]:
    """Frames and sampling, how frames and scores were joined, and the prompt; a recipe's words where no option says it.

    >>> setting_lines({"sampling": {"frames": 8, "policy": "uniform", "fps": None}, "model": {"pooling": "mean"}})
    ['8 frames, middles of equal segments', 'pooling: mean']
    """
    model = record["model"]
    if model.get("kind") in ("random", "constant", "blind"):
        return ["sees no frames"]
    sampling = record["sampling"]
    count = f"{sampling['frames']} frames"
    if sampling.get("fps"):
        count = f"{sampling['fps']:g} fps, at most {count}"
    lines = [f"{count}, {_POLICIES.get(sampling['policy'], sampling['policy'])}"]
    facts = {**model.get("options", {}), **model}
    for name in _FACTS:
        if facts.get(name) not in (None, ""):
            lines.append(f"{name.replace('_', ' ')}: {_short(str(facts[name]))}")
    if beside := beside_owner(record):
        lines.append(beside)
    return lines


def beside_owner(record: RunRecord) -> str:
    """That other frames were looked at than the model's owners look at; "" where they are the same, or not known.

    >>> owner = {"frames": 8, "fps": None, "least": 1, "multiple": 1, "policy": "uniform", "words": "8 frames, uniform"}
    >>> run = {"sampling": {"frames": 4, "policy": "uniform", "fps": None}, "model": {"recipe": {"owner": owner}}}
    >>> beside_owner(run), beside_owner(run | {"sampling": {"frames": 8, "policy": "uniform", "fps": None}})
    ("not the owner's setting (8 frames, uniform)", '')
    """
    owner: Any = record["model"].get("recipe", {}).get("owner")  # the fields of a recipe's `OwnerFrames`, and `words`
    sampling = record["sampling"]
    names = ("frames", "policy", "fps", *(("least", "multiple") if sampling.get("fps") else ()))
    if owner is None or all(owner[name] == sampling.get(name) for name in names):
        return ""
    return f"not the owner's setting ({owner['words']})"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONGEST else f"{one_line[: _LONGEST - 1]}…"
