"""The one reading of English: every rule about words is a function of a `Sentence`; nothing else parses or inflects.

parse(captions)          captions to sentences, by the parser that the package ships
Sentence, Word           a parsed caption: subjects, objects, particles, clauses, number, persons
forms                    lemma, inflection, articles, letter case
"""

from video_contrast.perturbations.english.parse import PARSER, iterate, parse, parse_one
from video_contrast.perturbations.english.sentence import Sentence, Word

__all__ = ["PARSER", "Sentence", "Word", "iterate", "parse", "parse_one"]
