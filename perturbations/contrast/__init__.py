"""Contrast generators: captions that differ from the true one in the doer, the thing or the action.

generate.propose, generate.choose             verbs and things of clips: the lexicon or a model proposes, a judge weighs
gender.swap, person_id.swap                   one caption -> Edit or None
gender.contrasts, person_id.contrasts         many captions -> edits and counts by reason
kinds.RULES                                   seven kinds by rules
"""

from video_contrast.perturbations.contrast.edit import Edit

__all__ = ["Edit"]
