"""Finds the verbs that taggers of newspaper English overlook in captions.

They read simple-present captions ("a man talks", "two men play table tennis") as strings of nouns, and progressive
ones ("a person is cooking") as a noun after "is". First come the clear cases, in every caption; then a caption that
still has no verb gets its best candidate promoted: a word after a noun that can agree with it, or a first word that
can be an imperative.
"""

from video_contrast.perturbations.english.forms import lemma, verb_tags, word_classes

PEOPLE = frozenset(
    """man woman boy girl guy lady person child kid baby people someone somebody he she it they we i you who everyone
    dog cat puppy kitten horse bird animal bear monkey player singer dancer actor actress host reporter teacher
    student chef cook mother father son daughter couple team group band crowd character family friend men women
    soldier officer speaker narrator commentator lion tiger elephant fish snake toddler teenager audience male female
    cameraman gentleman judge doctor nurse model kid guest fan runner driver rider wrestler boxer gamer youth
    """.split()  # noqa: SIM905  a list of a hundred quoted words is no easier to read
)
_AFTER_VERB = ("DT", "PRP$", "PRP", "IN", "RP", "RB", "TO", "CD", "WRB")
_OBJECT = ("DT", "PRP$", "PRP", "CD")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_BARE = ("NN", "NNS", "NNP", "NNPS", "JJ", "UH", "RB", "IN")
_BE = ("is", "are", "was", "were", "be", "been", "am", "'re", "'s", "s")
_NEVER_VERBS = ("video", "videos", "nose", "noses")  # of a caption
_PLURAL = ("people", "men", "women", "children", "they", "we", "you", "i")
_ADJECTIVES = frozenset(
    "interesting boring amazing exciting missing charming willing king ring string".split()  # noqa: SIM905
)
_BEFORE_GERUNDS = ("start", "stop", "begin", "keep", "continue", "finish", "enjoy")
_OFTEN_NOUNS = tuple(
    "hands faces eyes arms clothes shoes dresses toys parts matches shows clips wars scenes highlights".split()  # noqa: SIM905
)


def repair(words: list[str], tags: list[str]) -> list[str]:
    """The tags, with overlooked verbs promoted.

    >>> repair(["a", "man", "talks", "about", "cars"], ["DT", "NN", "NNS", "IN", "NNS"])
    ['DT', 'NN', 'VBZ', 'IN', 'NNS']
    >>> repair(["a", "person", "is", "cooking"], ["DT", "NN", "VBZ", "NN"])
    ['DT', 'NN', 'VBZ', 'VBG']
    >>> repair(["cut", "the", "onion"], ["NN", "DT", "NN"])
    ['VB', 'DT', 'NN']
    >>> repair(["a", "video", "game", "clip"], ["DT", "NN", "NN", "NN"])
    ['DT', 'NN', 'NN', 'NN']
    """
    fixed = [_possible(words, tags, place) for place in range(len(words))]
    for place in range(1, len(words)):
        if words[place].lower() in _NEVER_VERBS:
            continue
        if fixed[place] in ("NN", "NNS", "JJ", "VBN") and (tag := _clear_case(words, fixed, place)):
            fixed[place] = tag
    if any(tag[:2] == "VB" or tag == "MD" for tag in fixed):
        return fixed
    best: tuple[int, int, str] | None = None  # score, minus the place (the first wins), tag
    for place, (word, tag) in enumerate(zip(words, fixed, strict=True)):
        if tag not in _BARE or word.lower() in _NEVER_VERBS:
            continue
        candidate = _candidate(words, fixed, place, word)
        if candidate and (best is None or (candidate[0], -place) > best[:2]):
            best = (candidate[0], -place, candidate[1])
    if best is not None:
        fixed[-best[1]] = best[2]
    return fixed


def _possible(words: list[str], tags: list[str], place: int) -> str:
    """The tag, or another one where the word cannot be that form of a verb, or stands where no verb can."""
    word, tag = words[place], tags[place]
    can = verb_tags(word) if tag[:2] == "VB" else frozenset()
    if tag[:2] == "VB" and (
        word.lower() in _NEVER_VERBS or (not can and ("NOUN" in word_classes(word)) and word.lower() not in _BE)
    ):
        return "NNS" if lemma(word, "NNS") != word.lower() else "NN"
    if not can or word.lower() in _BE:
        return tag
    before = tags[place - 1] if place else ""
    if tag in ("VB", "VBP") and ("NOUN" in word_classes(word)):
        # No verb stands after a preposition's "her", joined to a noun alone, or after an article or adjective:
        # "behind her ear", "in suit and tie", "red bell pepper".
        owned = place > 1 and words[place - 1].lower() == "her" and tags[place - 2] == "IN"
        joined = before == "CC" and not any(earlier[:2] in ("VB", "MD") for earlier in tags[:place])
        described = before == "JJ" or (
            place > 0 and words[place - 1].lower() in ("a", "an", "the")
        )  # "red bell pepper"
        if owned or described or (joined and place > 1 and tags[place - 2] == "NN"):
            return "NNS" if word.endswith("s") else "NN"
    if tag in can:
        return tag
    if can <= {"VB", "VBP"} and ("NOUN" in word_classes(word)) and before[:2] in ("DT", "JJ", "IN", "NN", "CC", "PR"):
        return "VBP" if before in ("NNS", "PRP") else "NN"  # "girls sing" (VBG), but "fried chicken" (VBN)
    return next((form for form in ("VBG", "VBZ", "VBD", "VBN", "VBP") if form in can), tag)


def _clear_case(words: list[str], tags: list[str], place: int) -> str | None:
    """The verb tag of a word whose neighbours leave no doubt, in a caption that may have other verbs."""
    word, before, subject = words[place].lower(), tags[place - 1], words[place - 1].lower()
    after = tags[place + 1] if place + 1 < len(tags) else ""
    living = before == "PRP" or (before in _NOUNS and (subject in PEOPLE or lemma(subject, before) in PEOPLE))
    if tags[place] == "VBN":  # "two men run": no participle, if the form is the present's as well and nothing helps it
        helped = any(tag[:2] in ("VB", "MD") for tag in tags[:place])
        plural = before == "NNS" or subject in _PLURAL
        return "VBP" if living and plural and not helped and "VBP" in verb_tags(word) else None
    if word.endswith("ing"):
        if word in _ADJECTIVES or (tags[place] == "JJ" and after in _NOUNS):
            return None
        joined = before == "CC" and any(tag == "VBG" for tag in tags[:place]) and after not in _NOUNS
        opened = before[:2] == "VB" and lemma(subject, before) in _BEFORE_GERUNDS and after not in _NOUNS
        if (subject in _BE or living or joined or opened) and "VBG" in verb_tags(word):
            return "VBG"
        return None
    if not living or tags[place] == "JJ" or before == "NNP":
        return None
    if before == "NNS" or subject in _PLURAL:
        return "VBP" if "VBP" in verb_tags(word) and "VBZ" not in verb_tags(word) else None
    opened = any(earlier.lower() in ("while", "as", "when") for earlier in words[max(0, place - 4) : place])
    follows = after in _OBJECT or ((opened or after in ("IN", "RP")) and word not in _OFTEN_NOUNS)
    return "VBZ" if tags[place] == "NNS" and follows and "VBZ" in verb_tags(word) else None


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
    plural = before == "NNS" or subject in _PLURAL
    tag = next((t for t in ("VBG", "VBZ" if not plural else "VBP", "VBD", "VBN") if t in can), None)
    if tag is None or (tag == "VBP" and before == "NNP"):
        return None
    somebody = subject in PEOPLE or lemma(subject, before) in PEOPLE or before in ("PRP", "NNP")
    # "video game clips": without a living subject, what follows must look like the rest of a clause.
    if not somebody and (after not in _AFTER_VERB or word.lower() in _OFTEN_NOUNS):
        return None
    return 1 + 2 * somebody + (after in _AFTER_VERB) + (tag in ("VBG", "VBZ")), tag
