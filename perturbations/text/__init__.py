"""The 35 text perturbations of the robustness paper. Importing this fills the registry.

perturb_captions(captions, name, ids=...)   many captions, each with its own random stream
shift(originals, perturbed)                 how many captions stayed as they were
how_to_get(spec)                            what a perturbation needs and the command that gets it
text_spec(name)                             what a perturbation is: category, version, requirements
names(bias=True)                            the 35 names, or the 31 without the gender ones
"""

from importlib import import_module

from video_contrast.perturbations.registry import TEXT, text_spec
from video_contrast.perturbations.text.apply import PROFILES, perturb_captions, shift
from video_contrast.perturbations.text.checkpoints import how_to_get

# The order is that of the registry: the categories of the paper.
MODULES = (
    "added", "bias", "gender_swap", "characters", "prefix", "negation", "style", "tense", "embedding", "masked",
    "synonyms", "translation", "dropped",
)  # fmt: skip
for _module in MODULES:
    import_module(f"{__name__}.{_module}")

__all__ = ["PROFILES", "how_to_get", "names", "perturb_captions", "shift", "text_spec"]


def names(bias: bool = True) -> list[str]:
    """The names of the perturbations; without the four of category Bias for captions that name no gender."""
    return [spec.name for spec in TEXT.values() if bias or spec.category != "Bias"]
