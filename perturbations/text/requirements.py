"""What a text perturbation needs beyond the package, and the one command that gets it."""

from video_contrast.perturbations.english import wordnet
from video_contrast.perturbations.registry import TextSpec

# Packages that a checkpoint's tokenizer asks for.
PACKAGES = {"facebook/wmt19": "sacremoses", "prithivida/": "sentencepiece"}


def download_command(*checkpoints: str) -> str:
    """The command that puts checkpoints into the Hub cache, and the packages that their tokenizers ask for.

    >>> download_command("google-bert/bert-base-uncased")
    'hf download google-bert/bert-base-uncased'
    >>> download_command("facebook/wmt19-en-de")
    'pip install sacremoses && hf download facebook/wmt19-en-de'
    """
    packages = [package for start, package in PACKAGES.items() if any(name.startswith(start) for name in checkpoints)]
    install = [f"pip install {' '.join(packages)}"] if packages else []
    return " && ".join([*install, *(f"hf download {name}" for name in checkpoints)])


def how_to_get(spec: TextSpec) -> str:
    """What `spec` needs and the command that gets it, in one line; "nothing" if it runs as installed."""
    parts = []
    if "wordnet" in spec.requirements:
        parts.append(f"WordNet data: {wordnet.COMMAND}")
    checkpoints = [need.removeprefix("model:") for need in spec.requirements if need.startswith("model:")]
    if checkpoints:
        kind = "checkpoint" if len(checkpoints) == 1 else "checkpoints"
        parts.append(f"{kind}: {download_command(*checkpoints)}")
        if "or rules" in spec.requirements:
            parts.append("without it, rules are used and a note says so")
    return "; ".join(parts) or "nothing"
