"""What people, animals and vehicles can be seen doing to what, and which two actions cannot both be true of a clip."""

from video_contrast.perturbations.contrast.lexicon.lexicon import Action, Lexicon, Selection, Thing, load_lexicon

__all__ = ["Action", "Lexicon", "Selection", "Thing", "load_lexicon"]
