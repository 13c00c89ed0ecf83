"""Kinds of contrast made by rules: a file a kind, a line a kind here.

`RULES[kind](sentence, lexicon)` returns every contrast of that kind that a caption allows. A rule refuses where the
caption, or its parse, is not plain. `choose` takes one a clip, so that texts alone do not tell which caption is true.
"""

from collections.abc import Callable

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds import attribute, binding, count, direction, order, place, role
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence

Rule = Callable[[Sentence, Lexicon], list[Contrast]]

RULES: dict[str, Rule] = {
    "role": role.contrasts,
    "order": order.contrasts,
    "direction": direction.contrasts,
    "count": count.contrasts,
    "attribute": attribute.contrasts,
    "place": place.contrasts,
    "binding": binding.contrasts,
}

__all__ = ["RULES", "Contrast", "Rule"]
