"""TextStyle: the tense of the caption's verb changes (robustness paper, A.2)."""

from functools import cache
from itertools import pairwise

from numpy.random import Generator

from video_contrast.files import Json
from video_contrast.perturbations.english.forms import is_noun, like_case
from video_contrast.perturbations.language import Token, inflect, verb_tags
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.clauses import describes, finite_place, head_verb, is_plural
from video_contrast.perturbations.text.imperative import past
from video_contrast.perturbations.text.verb_places import all_orders, verbs_in_place
from video_contrast.perturbations.text.words import how_many, pick, put, sample

_MODALS = {"can": "could", "could": "can", "will": "would", "would": "will", "may": "might", "shall": "should"}
_MODALS |= {"ca": "could", "wo": "would", "sha": "should", "'ll": "would", "’ll": "would"}  # "can't", "won't", "he'll"
_MODALS_PRESENT = ("can", "will", "may", "shall", "ca", "wo", "sha", "'ll", "’ll")
_CLAUSES = frozenset("until till when while as if once after before that which who because so".split())  # noqa: SIM905
_CLITICS_OF_BE = ("is", "am", "'s", "’s", "'m", "’m")
_AFTER_HAVE = ("got", "been", "had")  # "he's got a hat", "she's been singing": "'s" is "has"


@text_perturbation("tense", category="TextStyle", origin="natural", version="6", requirements=("tags",))
def tense(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Present becomes past and past becomes present (`released`: any other form of a tenth of the words)."""
    if profile == "released":
        return _any_form(caption, tokens, rng)
    tokens = verbs_in_place(tokens)
    if _has_no_past(tokens):
        return caption
    orders = all_orders(tokens)
    if orders:
        return _past_of_orders(caption, tokens, orders)
    verb = head_verb(tokens)
    if verb is None:
        return caption
    place = finite_place(tokens, verb)
    if tokens[place].tag == "VBG":
        return caption  # "a man driving a car" has no tense
    changes = []
    for at in sorted({place, *_of_the_same_time(tokens, place)} - {verb.head} | {place}):
        token, new = tokens[at], _other_tense(tokens, at, is_plural(tokens, at))
        if new == token.text.lower():
            continue
        before = " " if at and tokens[at - 1].end == token.start else ""  # "we've" is "we had"
        joined = at + 1 < len(tokens) and tokens[at + 1].start == token.end and tokens[at + 1].text.lower() == "not"
        changes.append((token.start, token.end, before + like_case(new, token.text) + (" " if joined else "")))
    return put(caption, changes)


def _has_no_past(tokens: list[Token]) -> bool:
    """Whether a caption asks ("please add oil", "let's go") or tells a habit that ended ("used to sing")."""
    words = [token.text.lower() for token in tokens]
    if words[:1] == ["please"] or (words[:1] == ["let"] and words[1:2] in (["'s"], ["’s"], ["us"])):
        return True
    return any(a == "used" and b == "to" and tokens[n].tag == "VBD" for n, (a, b) in enumerate(pairwise(words)))


def _past_of_orders(caption: str, tokens: list[Token], orders: list[int]) -> str:
    """ "add oil and cook until it is hot" as "added oil and cooked until it was hot"."""
    forms = {at: past(tokens[at]) for at in orders}
    forms |= {
        at: _other_tense(tokens, at, is_plural(tokens, at))
        for at in _finite(tokens, ("VBZ", "VBP"))
        if at not in forms and (at < orders[0] or _is_clause(tokens, at, orders))
    }
    changes = [(tokens[at].start, tokens[at].end, like_case(form, tokens[at].text)) for at, form in forms.items()]
    return put(caption, sorted(changes))


def _is_clause(tokens: list[Token], place: int, orders: list[int]) -> bool:
    """Whether a present belongs to a clause of its own behind an order ("until it browns", "until the onion turns")."""
    if tokens[place].lemma == "be" or tokens[place - 1].tag == "PRP":
        return True
    order = max(at for at in orders if at < place)
    return any(token.text.lower() in _CLAUSES for token in tokens[order + 1 : place])


def _of_the_same_time(tokens: list[Token], place: int) -> list[int]:
    """The finite verbs in the tense of the one at `place`: a caption stays in one tense."""
    head = tokens[place]
    past = head.tag == "VBD"
    tags = ("VBD",) if past else ("VBZ", "VBP") if head.tag != "MD" else ("MD",)
    finite = [at for at in _finite(tokens, tags) if not describes(tokens, at)]
    if head.tag in ("VBZ", "VBP", "VB"):
        finite += [at for at in range(len(tokens)) if _is_present_modal(tokens, at)]
    return finite if head.tag in ("VBD", "MD") else [*finite, *_joined_to(tokens, [place, *finite])]


def _is_present_modal(tokens: list[Token], place: int) -> bool:
    """ "which will be shown", "as far as he can"; not "a trash can" nor "will smith"."""
    if tokens[place].tag != "MD" or tokens[place].text.lower() not in _MODALS_PRESENT:
        return False
    after = place + 1
    while after < len(tokens) and tokens[after].tag == "RB":
        after += 1
    if place and tokens[place - 1].tag in ("DT", "JJ", "IN"):
        return False
    return (after < len(tokens) and tokens[after].tag == "VB") or (place > 0 and tokens[place - 1].tag == "PRP")


def _joined_to(tokens: list[Token], finite: list[int]) -> list[int]:
    """Bare verbs that go on from a present one: "two men stand and smile", "they eat, talk and laugh"."""
    joined: list[int] = []
    for place in range(1, len(tokens)):
        if tokens[place].tag != "VB" or "VBP" not in verb_tags(tokens[place].text):
            continue
        at = place - 1
        while at and tokens[at].tag == "RB":
            at -= 1
        verbs = [n for n in range(place) if tokens[n].tag[:2] == "VB" or tokens[n].tag in ("MD", "TO")]
        if tokens[at].tag in ("CC", ",") and verbs and verbs[-1] in (*finite, *joined):
            joined.append(place)
    return joined


def _finite(tokens: list[Token], tags: tuple[str, ...]) -> list[int]:
    return [n for n, token in enumerate(tokens) if token.tag in tags and _is_verb(tokens, n)]


def _is_verb(tokens: list[Token], place: int) -> bool:
    """Whether the word is a verb by the dictionary, and does not stand where nouns do ("gives autographs")."""
    token = tokens[place]
    if token.tag == "MD" or token.lemma in ("be", "have", "do"):
        return True
    noun = place > 0 and tokens[place - 1].tag[:2] in ("VB", "IN", "DT", "JJ") and is_noun(token.text)
    return token.tag in verb_tags(token.text) and not noun


def _other_tense(tokens: list[Token], place: int, plural: bool) -> str:
    token = tokens[place]
    low = token.text.lower()
    if token.tag == "MD":
        return _MODALS.get(low, low)
    if token.tag == "VBD":
        if token.lemma == "be":
            return "are" if low == "were" else "is"
        return inflect(token.lemma, "VBP" if plural else "VBZ")
    if low in ("'s", "’s") and any(after.text.lower() in _AFTER_HAVE for after in tokens[place + 1 : place + 2]):
        return "had"
    if token.lemma == "be":
        return "were" if low in ("are", "'re", "’re") or (plural and low not in _CLITICS_OF_BE) else "was"
    return inflect(token.lemma, "VBD")


def _any_form(caption: str, tokens: list[Token], rng: Generator) -> str:
    forms = _forms()
    verbs = [t for t in tokens if t.tag.startswith("VB") and t.text.lower() in forms]
    changes = []
    for n in sample(len(verbs), how_many(0.1, len(tokens)), rng) if verbs else ():
        changes.append((verbs[n].start, verbs[n].end, pick(forms[verbs[n].text.lower()], rng)))
    return put(caption, changes)


@cache
def _forms() -> Json:
    """Verb form -> the verb's other forms."""
    return tables.parsed("verb_tenses.json")
