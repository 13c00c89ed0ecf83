"""The golden eight: clips with captions and questions on which certificates of models stand, and the known ones.

Drawn once: textures of 1/f noise, sizes from 320x240 to 1280x720, one with uneven times, one that is shown turned. The
files are shipped as they are and never drawn again: encoders differ between builds, and certificates hold their bits.
"""

from importlib.resources import files
from pathlib import Path

GOLDEN = Path(str(files(__name__)))
CAPTIONS, QUESTIONS = GOLDEN / "captions.jsonl", GOLDEN / "questions.jsonl"
CERTIFICATES = GOLDEN / "certificates"
