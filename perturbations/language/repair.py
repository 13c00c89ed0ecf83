"""Finds the verb of a caption in which no tagger saw one.

Taggers read simple-present captions ("a man talks", "two men play table tennis") as strings of nouns. A caption
without a verb gets its best candidate promoted: a word after a noun that can agree with it, or a first word that
can be an imperative.
"""

from video_contrast.perturbations.language.morphology import lemma, verb_tags

_PEOPLE = frozenset(
    """man woman boy girl guy lady person child kid baby people someone somebody he she it they we i you who everyone
    dog cat puppy kitten horse bird animal bear monkey player singer dancer actor actress host reporter teacher
    student chef cook mother father son daughter couple team group band crowd character family friend men women
    soldier officer speaker narrator commentator lion tiger elephant fish snake toddler teenager crowd audience
    """.split()
)
_AFTER_VERB = ("DT", "PRP$", "PRP", "IN", "RP", "RB", "TO", "CD", "WRB")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_BARE = ("NN", "NNS", "NNP", "NNPS", "JJ", "UH", "RB", "IN")


def repair(words: list[str], tags: list[str]) -> list[str]:
    """The tags, with a verb promoted where there was none; unchanged if a verb or a modal is there.

    >>> repair(["a", "man", "talks", "about", "cars"], ["DT", "NN", "NNS", "IN", "NNS"])
    ['DT', 'NN', 'VBZ', 'IN', 'NNS']
    >>> repair(["cut", "the", "onion"], ["NN", "DT", "NN"])
    ['VB', 'DT', 'NN']
    >>> repair(["a", "video", "game", "clip"], ["DT", "NN", "NN", "NN"])
    ['DT', 'NN', 'NN', 'NN']
    """
    if any(tag[:2] == "VB" or tag == "MD" for tag in tags):
        return tags
    best: tuple[int, int, str] | None = None  # score, minus the place (the first wins), tag
    for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
        if tag not in _BARE:
            continue
        found = _candidate(words, tags, place, word)
        if found and (best is None or (found[0], -place) > best[:2]):
            best = (found[0], -place, found[1])
    if best is None:
        return tags
    fixed = list(tags)
    fixed[-best[1]] = best[2]
    return fixed


def _candidate(words: list[str], tags: list[str], place: int, word: str) -> tuple[int, str] | None:
    """How good a verb the word at `place` would make, and with which tag."""
    after = tags[place + 1] if place + 1 < len(tags) else ""
    can = verb_tags(word)
    if not can:
        return None
    if place == 0:
        return (3, "VB") if "VB" in can and after in ("DT", "PRP$", "CD") else None
    before = tags[place - 1]
    if before == "RB" and place > 1:  # "a man slowly walks"
        before, subject = tags[place - 2], words[place - 2]
    else:
        subject = words[place - 1]
    subject = subject.lower()
    if before not in _NOUNS and before != "PRP" and before != "WP":
        return None
    plural = before == "NNS" or subject in ("people", "men", "women", "children", "they", "we", "you", "i")
    tag = next((t for t in ("VBG", "VBZ" if not plural else "VBP", "VBD", "VBN") if t in can), None)
    if tag is None or (tag == "VBP" and before == "NNP"):
        return None
    somebody = subject in _PEOPLE or lemma(subject, before) in _PEOPLE or before in ("PRP", "NNP")
    # "video game clips": without a living subject, what follows must look like the rest of a clause.
    if not somebody and after not in _AFTER_VERB:
        return None
    return 1 + 2 * somebody + (after in _AFTER_VERB) + (tag in ("VBG", "VBZ")), tag
