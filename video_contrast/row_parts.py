"""What rows hold inside a column: edits of candidates, recipes of perturbations."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

AnyRow = Mapping[str, Any]  # of a table of the user: a column may hold anything until it is checked
Columns = Mapping[str, Any]  # what `datasets` hands to a transform: column -> its value, or those of a batch


class EditRecord(TypedDict):
    """What was changed in a candidate."""

    old: str  # the words that were replaced
    new: str  # what stands in their place
    start: int  # character span of `new` in the candidate
    end: int
    antonym: bool
    generator: str  # what proposed it: "table6", "lexicon", "t5-base", "human" ...
    scores: str  # JSON: what was measured of it


class TextRecipe(TypedDict):
    """The perturbation that a row's texts have undergone."""

    name: str
    profile: str
    seed: int
    version: NotRequired[str]  # of the rule, with what made the text; of rows of a built set it stands in `set.json`


class VideoRecipe(TypedDict):
    """The perturbation that a row's clip is to undergo when it is decoded."""

    name: str
    severity: int
    profile: str
    seed: int
    scope: str  # "video" or "clip": what T, fps and the index map refer to
    order: str  # "perturb_then_sample" or "sample_then_perturb"
