"""English words: tags, lemmas and inflected forms, offline.

tag(captions) -> list[list[Token]]   words with Penn tags, lemmas and character spans; cached
iterate(captions)                    the same, one caption at a time, for corpora that do not fit in memory
lemma(word, tag), inflect(lemma, tag), verb_tags(word)
tagger_name()                        what the tags depend on; belongs in every record of a set
"""

from video_contrast.perturbations.english.forms import inflect, lemma, verb_tags
from video_contrast.perturbations.language.tagging import iterate, tag, tagger_name
from video_contrast.perturbations.language.token import Token, spans, words

__all__ = ["Token", "inflect", "iterate", "lemma", "spans", "tag", "tagger_name", "verb_tags", "words"]
