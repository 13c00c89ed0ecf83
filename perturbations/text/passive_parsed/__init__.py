"""Active captions made passive by their parse.

parsed_passive(caption, words, tokens)   the caption in the passive; unchanged where its parse fits no pattern
parses(captions), parser()               the parses, and what they depend on; None where no parser is installed
"""

from video_contrast.perturbations.text.passive_parsed.clause import parsed_passive
from video_contrast.perturbations.text.passive_parsed.parses import parser, parses

__all__ = ["parsed_passive", "parser", "parses"]
