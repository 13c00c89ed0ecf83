"""What a text perturbation needs beyond the package, and the one command that gets it."""

from video_contrast.perturbations.english import wordnet
from video_contrast.perturbations.registry import TextSpec
from video_contrast.pretrained import download_command


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
