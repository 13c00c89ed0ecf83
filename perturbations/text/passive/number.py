"""Whether a noun phrase is plural, for the verb that agrees with it: by its head, "and", and what "group of" counts."""

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import lemma
from video_contrast.perturbations.text.clauses import UNCOUNTED
from video_contrast.perturbations.text.passive.lists import CLOTHES, COLOURS
from video_contrast.perturbations.text.passive.sentence import NounPhrase, Sentence

_ONE = frozenset("a an one 1 this that each every another".split())  # noqa: SIM905
_MANY = frozenset("these those several many few two three four five six both various".split())  # noqa: SIM905
_CROWDS = frozenset("group couple bunch lot number".split())  # noqa: SIM905
_SINGLE = frozenset(("rock and roll", "hide and seek", "macaroni and cheese", "mac and cheese", "drum and bass"))
_PLURAL = frozenset("people men women children police binoculars scissors pants jeans sunglasses".split())  # noqa: SIM905


def is_plural(tree: Sentence, phrase: NounPhrase) -> bool | None:
    """Whether a noun phrase is plural; None where its words disagree ("a dogs")."""
    start, end, head = phrase
    word, low = tree.words[head], tree.words[head].text
    if word.tag not in NOUNS:
        return False  # "how to fold a plane is shown"
    below = [tree.words[n] for n in tree.children[head] if start <= n < end]
    if {f"{low} and {child.text}" for child in below if child.dep == "conj"} & _SINGLE:
        return False
    clothes = any(child.dep == "conj" and child.lemma in CLOTHES for child in below) and tree.is_person(head)
    below = [child for child in below if not (clothes and child.dep in ("conj", "cc"))]  # "a man in a hat and coat"
    if low in ("women", "men") and "a" in (texts := {child.text for child in below}) and "few" not in texts:
        return False  # "a women", as captions have it
    if any(child.dep == "conj" and child.start > word.start for child in below):
        return None if any(child.text == "or" for child in below) or low in COLOURS else True  # "a grey and white dog"
    looks = word.tag in ("NNS", "NNPS") or low in _PLURAL or low.endswith("people")
    looks = looks or (low.endswith("s") and not low.endswith(("ss", "us")) and lemma(low, "NNS") != low)
    if low in UNCOUNTED:
        return False
    unknown = word.tag in ("NNP", "NNPS") or (not low.endswith(("people", "s")) and lemma(low, "NNS") == low)
    if looks and low not in _PLURAL and unknown:
        return None  # "star wars", "itunes"
    first = {child.text for child in below if child.dep in ("det", "nummod", "amod", "predet")}
    if (first & _ONE and not first & {"few"} and looks and low != "people") or (first & _MANY and not looks):
        return None
    of = next((n for n in tree.children[head] if tree.words[n].text == "of"), None) if word.lemma in _CROWDS else None
    inner = tree.child(of, "pobj") if of is not None else None
    return looks if inner is None else tree.words[inner].tag in ("NNS", "NNPS") or tree.words[inner].text in _PLURAL
