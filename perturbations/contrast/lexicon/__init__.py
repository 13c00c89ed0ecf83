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

__all__ = ["Action", "Attribute", "Lexicon", "Place", "Selection", "Thing", "load_lexicon"]
