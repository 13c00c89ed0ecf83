"""A caption that is one plain clause, read from its tags alone where no parser is installed.

Tags do not say with which word a phrase goes, so that nothing may follow the object
but a site ("on a stage") or a clause of its own ("while music plays").
"""

import itertools
import re
from collections.abc import Sequence

from video_contrast.perturbations.contrast.generators.frames.words import Parse, Word
from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.passive import lists

# One letter a word. A noun phrase: determiners, words in front of nouns, nouns ("s" of "a man s hat" among them).
_CODES = {"DT": "D", "PRP$": "D", "CD": "D", "PDT": "D", "JJ": "J", "JJR": "J", "JJS": "J", "VBN": "J", "IN": "I"}
_CODES |= {"NN": "N", "NNS": "N", "NNP": "N", "NNPS": "N", "POS": "S", "PRP": "P", "CC": "C", "RP": "T", "RB": "R"}
_CODES |= {"VBZ": "V", "VBP": "V", "VBD": "V", "VBG": "G", "VB": "B", "MD": "M", "TO": "Q", ".": "."}
_WORDS = dict.fromkeys(("is", "are", "was", "were"), "A") | dict.fromkeys(("has", "have", "had"), "H")
_WORDS |= dict.fromkeys(("s", "'s", "’s"), "S") | dict.fromkeys(
    ("while", "as", "when", "where", "because", "then"), "W"
)
_WORDS |= dict.fromkeys(("how", "why", "what"), "K")
_WORDS |= {"of": "O", "there": "X", "or": "?", "but": "?"}
_NOUN = "D{0,2}(?:R?J)*(?:N+S)?J*N+"
_PHRASE = f"{_NOUN}(?:O{_NOUN})?(?:C{_NOUN})?"
_NEXT = f"[WC](?:{_PHRASE}|P)(?:I{_NOUN})*[AVMH].*"
_CLAUSE = re.compile(
    f"(?P<before>.*W|XA|I{_NOUN})?(?P<subject>(?:{_PHRASE})|P)(?P<where>(?:I{_PHRASE})*)"
    f"(?P<verb>AR?G|MR?B|V|R?G|HJ)(?P<particle>T?)(?P<about>[IQ]?)(?:(?P<object>{_PHRASE})(?P<site>I{_NOUN})?(?P<next>[.]|{_NEXT})?|(?P<told>K.*))"
)
_LABELS = {"D": "det", "J": "amod", "S": "case", "N": "compound", "R": "advmod"}


def read(tokens: Sequence[Token]) -> Parse | None:
    """The words of a caption with their heads; None where it is no plain clause."""
    codes = "".join(_code(tokens, n) for n in range(len(tokens)))
    match = _CLAUSE.fullmatch(codes)
    if match is None:
        return None
    verb = match.end("verb") - 1
    heads = {n: (n, "punct") for n in range(len(tokens))}
    subject = _phrase(codes, *match.span("subject"), heads=heads)
    bare = match["verb"] in ("G", "RG")
    person = _is_person(tokens[subject])
    if match["next"] and tokens[match.start("next")].text.lower() in ("where", "then"):
        return None
    if not bare and match["before"] and tokens[match.end("before") - 1].lemma == "of":
        return None  # "an animation of a character makes movements": which of the two makes them?
    if bare and (match["next"] or "").startswith("C"):
        return None  # "a man wearing a shirt and a coat speaks"
    if bare and "C" in match["where"]:
        return None  # "a man in a chair and another man | wearing a hat"
    lone = subject == 0 or not _is_person(tokens[subject - 1]) or person
    if bare and not lone:
        return None  # "a person bottle | feeding kittens"
    if bare and not person and (match["where"] or "O" in match["subject"]):
        return None  # "a drawing of a person | rolling": who rolls?
    heads[verb] = (subject, "acl") if bare else (verb, "ROOT")
    heads[subject] = (subject, "ROOT") if bare else (verb, "nsubj")
    for at in range(match.start("verb"), verb):
        heads[at] = (verb, "advmod" if codes[at] == "R" else "aux")
    _hang(codes, *match.span("where"), over=subject, heads=heads)
    over = verb
    if (
        match["particle"]
        and match["object"]
        and tokens[match.end("object") - 1].lemma in lists.SITES | {"camera", "screen"}
    ):
        return None  # "narrates off camera"
    if match["particle"]:
        heads[match.start("particle")] = (verb, "prt")
    if match["about"]:
        over = match.start("about")
        heads[over] = (verb, "prep")
    if match["told"]:
        clause = next((n for n in range(match.start("told"), len(tokens)) if codes[n] in "BVG"), verb)
        heads |= {n: (clause, "obj") for n in range(match.start("told"), len(tokens))}
        heads[clause] = (over, "ccomp" if over == verb else "pcomp")
    else:
        heads[_phrase(codes, *match.span("object"), heads=heads)] = (over, "dobj" if over == verb else "pobj")
        _hang(codes, *match.span("site"), over=verb, heads=heads)
        if match["site"] and (
            tokens[match.end("site") - 1].lemma not in lists.SITES
            or tokens[match.start("site")].lemma not in ("in", "on", "at")
        ):
            return None  # "leaves a house with a dog": who has the dog?
    if match["before"] == "XA":
        heads[0], heads[1] = (1, "expl"), (1, "ROOT")
        heads[subject] = (1, "attr") if bare else heads[subject]
    return tuple(
        Word(
            token.text.lower(), token.tag, token.lemma, heads[n][1], head=heads[n][0], start=token.start, end=token.end
        )
        for n, token in enumerate(tokens)
    )


def _code(tokens: Sequence[Token], place: int) -> str:
    token = tokens[place]
    if token.text.lower() == "of" and place and tokens[place - 1].lemma in lists.HOLDING | {"cartoon", "animation"}:
        return "W"  # "a video of | a man playing"
    return _WORDS.get(token.text.lower()) or _CODES.get(token.tag, "?")


def _is_person(token: Token) -> bool:
    return not {token.text.lower(), token.lemma}.isdisjoint(lists.PERSONS | lists.CROWDS)


def _phrase(codes: str, start: int, end: int, *, heads: dict[int, tuple[int, str]]) -> int:
    """Hangs the words of a noun phrase on its chief noun, the last of its first part; the place of that noun."""
    cuts = [n for n in range(start, end) if codes[n] in "OC"]
    chief = (cuts[0] if cuts else end) - 1
    for at in range(start, chief):
        heads[at] = (chief, _LABELS[codes[at]])
    for cut, stop in itertools.pairwise([*cuts, end]):
        inner = _phrase(codes, cut + 1, stop, heads=heads)
        of = codes[cut] == "O"
        heads[cut] = (chief, "prep" if of else "cc")
        heads[inner] = (cut, "pobj") if of else (chief, "conj")
    return chief


def _hang(codes: str, start: int, end: int, *, over: int, heads: dict[int, tuple[int, str]]) -> None:
    """Hangs the prepositional phrases behind a subject on it."""
    places = [n for n in range(start, end) if codes[n] == "I"]
    for place, stop in itertools.pairwise([*places, end]):
        heads[place] = (over, "prep")
        heads[_phrase(codes, place + 1, stop, heads=heads)] = (place, "pobj")
