"""Whether a parsed noun phrase is plural, for the verb that agrees with it."""

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import lemma
from video_contrast.perturbations.text.clauses import UNCOUNTED
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence

_ONE = frozenset("a an one 1 this that each every another".split())  # noqa: SIM905


_MANY = frozenset("these those several many few two three four five six both various".split())  # noqa: SIM905


_CROWDS = frozenset("group couple bunch lot number pair variety series".split())  # noqa: SIM905


_SINGLE = frozenset(("rock and roll", "hide and seek", "macaroni and cheese", "mac and cheese", "drum and bass"))


_PLURAL = frozenset("people men women children police".split())  # noqa: SIM905


def is_plural(tree: Sentence, start: int, end: int, head: int) -> bool | None:
    """Whether the phrase `start` to `end` is plural; None where its words disagree ("a dogs").

    Args:
        tree: of the caption.
        start: its first word.
        end: past its last word.
        head: its chief noun.
    """
    word = tree.words[head]
    if word.tag not in NOUNS:
        return False  # "how to fold a plane is shown"
    joined = [n for n in tree.children[head] if tree.words[n].dep == "conj" and n < end]
    either = any(tree.words[n].dep == "cc" and tree.words[n].text == "or" for n in tree.children[head])
    low = word.text
    looks = word.tag in ("NNS", "NNPS") or low in _PLURAL
    if word.tag in ("NN", "NNP") and low.endswith("s") and not low.endswith(("ss", "us")):
        looks = looks or lemma(low, "NNS") != low
    if low in UNCOUNTED:
        looks = False
    elif looks and low not in _PLURAL and not low.endswith("s") and lemma(low, "NNS") == low:
        return None
    first = {
        tree.words[n].text for n in tree.children[head] if tree.words[n].dep in ("det", "nummod", "amod", "predet")
    }
    if first & _ONE and not first & {"few"} and looks and low not in ("people",):
        return None
    if first & _MANY and not looks:
        return None
    if joined:
        if _SINGLE & {f"{low} and {tree.words[n].text}" for n in joined}:
            return False
        return None if either else True
    if word.lemma in _CROWDS:
        of = next((n for n in tree.children[head] if tree.words[n].text == "of"), None)
        inner = tree.child(of, "pobj") if of is not None else None
        if inner is not None and tree.words[inner].tag in NOUNS and word.lemma not in ("series", "pair", "variety"):
            return tree.words[inner].tag in ("NNS", "NNPS") or tree.words[inner].text in _PLURAL
    return looks
