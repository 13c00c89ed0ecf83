"""The settings of a run in words, beside those of the model's owners, its authors: frames, size of frames, prompt."""

from typing import Any

from video_contrast.storage.run_file_fields import RunRecord

_POLICIES = {
    "uniform": "middles of equal segments",
    "linspace": "first to last",
    "starts": "beginnings of equal segments",
    "steps": "one at every step of the rate",
    "head": "the first ones",
}
# Of a model's facts, those on which its figures depend most, as they are called in the record.
_FACTS = (
    "pooling", "itm_aggregate", "scoring", "readout", "norm", "rotations", "prompt_text", "prompt_video", "prompt",
)  # fmt: skip
SEE_NOTHING = ("random", "constant", "blind")  # kinds of models
_LONGEST = 160  # characters of a prompt
_UNSAID = {"rounding": "down"}  # of records that were written without it


def setting_lines(record: RunRecord) -> list[str]:
    """Frames and sampling, how frames and scores were joined, and the prompt; a recipe's words where no option says it.

    >>> setting_lines({"sampling": {"frames": 8, "policy": "uniform", "fps": None}, "model": {"pooling": "mean"}})
    ['8 frames, middles of equal segments', 'pooling: mean']
    """
    model = record["model"]
    if model.get("kind") in SEE_NOTHING:
        return ["sees no frames"]
    sampling = record["sampling"]
    count = f"{sampling['frames']} frames"
    if sampling.get("fps"):
        count = f"{sampling['fps']:g} fps, at most {count}"
    lines = [f"{count}, {_POLICIES.get(sampling['policy'], sampling['policy'])}"]
    facts = {**model.get("options", {}), **model}
    for name in _FACTS:
        if facts.get(name) not in (None, ""):
            text = " ".join(str(facts[name]).split())
            short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
            lines.append(f"{name.replace('_', ' ')}: {short}")
    if facts.get("frame_size") == "owner":
        lines.append("size of frames: the owner's")
    if beside := beside_owner(record):
        lines.append(beside)
    return lines


def beside_owner(record: RunRecord) -> str:
    """A note that the frames, sizes or prompts are not those of the model's owners; "" where theirs are not known.

    >>> owner = {"frames": 8, "fps": None, "least": 1, "multiple": 1, "policy": "uniform", "words": "8 frames, uniform"}
    >>> run = {"sampling": {"frames": 4, "policy": "uniform", "fps": None}, "model": {"recipe": {"owner": owner}}}
    >>> beside_owner(run), beside_owner(run | {"sampling": {"frames": 8, "policy": "uniform", "fps": None}})
    ("not the owner's setting (8 frames, uniform)", '')
    """
    owner: Any = record["model"].get("recipe", {}).get("owner")  # the fields of a recipe's `OwnerFrames`, and `words`
    sampling = record["sampling"]
    names = ("frames", "policy", "fps", *(("least", "multiple", "rounding") if sampling.get("fps") else ()))
    if owner is None:
        return ""
    if any(owner.get(name, _UNSAID.get(name)) != sampling.get(name, _UNSAID.get(name)) for name in names):
        return f"not the owner's setting ({owner['words']})"
    options = record["model"].get("options", {})
    others = ["size of frames"] if owner.get("side") and options.get("frame_size") == "processor" else []
    if owner.get("prompt") and options.get("scoring") == "letter" and options.get("letter_prompt") == "plain":
        others.append("prompt")
    return f"not the owner's {' and '.join(others)}" if others else ""
