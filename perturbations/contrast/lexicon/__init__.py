"""What people, animals and vehicles can be seen doing to what, and which two actions cannot both be true of a clip."""

from video_contrast.perturbations.contrast.lexicon.lexicon import (
    Action,
    Attribute,
    Lexicon,
    Place,
    Selection,
    Thing,
    load_lexicon,
)
from video_contrast.perturbations.contrast.lexicon.swaps import Swap

__all__ = ["Action", "Attribute", "Lexicon", "Place", "Selection", "Swap", "Thing", "load_lexicon"]
