"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption whose verb has no object stays as it is. The checkpoint form is in `style`.
"""

from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.text.clauses import FINITE, head_verb, is_plural

_INSIDE = ("DT", "PDT", "JJ", "JJR", "JJS", "CD", "NN", "NNS", "NNP", "NNPS", "PRP$", "POS", "VBG", "VBN")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_BEFORE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# Verbs whose noun phrase is no object that could be the subject of a passive.
_NO_PASSIVE = frozenset(("be", "have", "become", "seem", "look", "resemble", "lack", "cost", "weigh", "go", "get"))


def passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive; unchanged where its head verb has no object right behind it.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    verb = head_verb(tokens)
    if verb is None or verb.head == 0:
        return caption
    first = verb.head if verb.auxiliary is None else verb.auxiliary
    head = tokens[verb.head]
    if head.lemma in _NO_PASSIVE or (verb.auxiliary is not None and head.tag == "VBN"):
        return caption
    object_end = _noun_phrase(tokens, verb.head + 1)
    if object_end is None:
        return caption
    subject_start = _subject(tokens, first)
    if subject_start is None:
        return caption
    subject = caption[tokens[subject_start].start : tokens[first - 1].end]
    thing = caption[tokens[verb.head + 1].start : tokens[object_end - 1].end]
    plural = is_plural(tokens[verb.head + 1 : object_end], object_end - verb.head - 1)
    group = " ".join(_group(tokens, verb.head, verb.auxiliary, plural))
    low = subject.lower()
    agent = _AFTER.get(low, subject if tokens[subject_start].tag.startswith("NNP") else _lower_first(subject))
    lead = caption[: tokens[subject_start].start]
    rest = caption[tokens[object_end - 1].end :]
    done = f"{lead}{_BEFORE.get(thing.lower(), thing)} {group} by {agent}{rest}"
    return done[:1].upper() + done[1:] if caption[:1].isupper() else done


def _group(tokens: list[Token], head: int, auxiliary: int | None, plural: bool) -> list[str]:
    """The passive verb words: "is done", "was being done", "can be done"."""
    participle = inflect(tokens[head].lemma, "VBN")
    tag = tokens[head].tag
    if auxiliary is None:
        if tag == "VBG":  # "a man singing a song": the song being sung
            return ["being", participle]
        return [_be("VBD" if tag == "VBD" else "VBZ", plural), participle]
    first = tokens[auxiliary]
    between = ["not" if token.text.lower() in ("n't", "n’t") else token.text for token in tokens[auxiliary + 1 : head]]
    if first.tag == "MD":
        return [first.text, *between, "be", participle]
    past = "VBD" if first.tag == "VBD" else "VBZ"
    if tag == "VBG":
        return [_be(past, plural), *between, "being", participle]
    return [_be(past, plural), *between, participle]


def _be(tag: str, plural: bool) -> str:
    if tag == "VBD":
        return "were" if plural else "was"
    return "are" if plural else "is"


def _noun_phrase(tokens: list[Token], start: int) -> int | None:
    """The end of the noun phrase that begins at `start`; None if none does."""
    if start < len(tokens) and tokens[start].text.lower() in _BEFORE and tokens[start].tag == "PRP":
        return start + 1
    end = start
    while end < len(tokens) and tokens[end].tag in _INSIDE:
        if tokens[end].tag in ("VBG", "VBN") and end > start and tokens[end - 1].tag in _NOUNS:
            break  # "a song wearing a hat"
        end += 1
    while end > start and tokens[end - 1].tag not in _NOUNS:
        end -= 1
    return end if end > start else None


def _subject(tokens: list[Token], verb: int) -> int | None:
    """Where the subject in front of the verb begins: after the last clause boundary; it must hold a noun or pronoun."""
    if any(token.tag in ("WDT", "WP") for token in tokens[:verb]):
        return 0  # "the chef who is wearing a hat": verbs of the relative clause are no boundary
    start = verb
    while start > 0 and tokens[start - 1].tag not in (*FINITE, ",", ".", ":", "WDT", "WP", "WRB", "EX"):
        start -= 1
    words = tokens[start:verb]
    return start if any(token.tag in (*_NOUNS, "PRP", "DT") for token in words) else None


def _lower_first(phrase: str) -> str:
    first, space, rest = phrase.partition(" ")
    return (first.lower() if first.istitle() and first != "I" and space else first) + space + rest
