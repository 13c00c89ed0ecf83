"""Contrast generators: captions that differ from the true one in who, what or what is done.

gender.swap, person_id.swap, object.swap      one caption -> Edit or None
*.contrasts(captions, ids, ...)               many captions -> edits and counts by reason
verb.contrasts(captions, ids, siblings=...)   generators propose, constraints accept
"""

from video_contrast.perturbations.contrast.edit import Edit

__all__ = ["Edit"]
