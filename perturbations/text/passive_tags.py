"""Tags of nouns that taggers of newspaper English miss in captions, mended before the passive is formed.

They read "is doing origami" with a particle, "the noodles dish" with a verb and "with helmet riding" with an adjective.
"""

from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.language.morphology import is_describing, is_noun
from video_contrast.perturbations.text.noun_phrases import NOUNS, PEOPLE
from video_contrast.perturbations.text.passive_known import CLOSED, LOOKING, USING, known


def mended(tokens: list[Token]) -> list[Token]:
    """The tokens, with nouns tagged as nouns where the words around them leave no other reading.

    >>> from video_contrast.perturbations.language import tag
    >>> [token.tag for token in mended(tag(["a woman is doing origami"])[0])][-1]
    'NN'
    """
    out: list[Token] = []
    tokens = known(tokens)
    for place, token in enumerate(tokens):
        before = out[-1] if out else None
        after = tokens[place + 1].tag if place + 1 < len(tokens) else ""
        opening = before is None and token.tag == "JJ" and after == "VBG" and token.text.lower() in PEOPLE
        if opening or (before is not None and _is_noun_here(before, token, after)):
            low = token.text.lower()
            plural = lemma(low, "NNS") != low and not low.endswith("ss")
            token = token._replace(tag="NNS" if plural else "NN", lemma=lemma(low, "NNS") if plural else low)
        out.append(token)
    return _ended(out)


def _ended(tokens: list[Token]) -> list[Token]:
    """The tokens; where a last clause has no verb, its last word is one: "while music plays"."""
    if len(tokens) < 4 or tokens[-2].tag not in NOUNS or tokens[-1].tag not in ("NN", "NNS", "IN", "JJ"):
        return tokens
    opened = any(token.text.lower() in ("while", "as", "when") for token in tokens[-4:-2])
    form = "VBP" if tokens[-2].tag == "NNS" or tokens[-2].text.lower() == "people" else "VBZ"
    if not opened or form not in verb_tags(tokens[-1].text):
        return tokens
    return [*tokens[:-1], tokens[-1]._replace(tag=form, lemma=lemma(tokens[-1].text, form))]


def _is_noun_here(before: Token, token: Token, after: str) -> bool:
    """Whether a word that has another tag can only be a noun between its neighbours."""
    low = token.text.lower()
    if token.tag in NOUNS or low in CLOSED:
        return False
    if token.tag == "FW":
        return True
    if low == "one" and before.text.lower() in ("some", "any", "every"):
        return True
    if not is_noun(low) or low.endswith("ly"):
        return False
    ends = not after or after in ("IN", "TO", "CC", ".", ",", "VBG", "VBZ", "VBP")
    if token.tag == "VBZ":  # "several flips on", "wearing sunglasses drives"
        counted = before.text.lower() in ("several", "many", "various", "few", "some", "different")
        described = counted or before.tag in ("VBG", "CD") or (before.tag == "CC" and after in ("VBZ", "VBG"))
        return described and (ends or after in ("VBZ", "VBD")) and low not in ("is", "has", "does")
    if token.tag == "JJ" and before.tag == "VBG":
        return ends and before.lemma in USING
    if token.tag in ("RB", "RP", "IN", "VB") and before.tag == "VBG" and before.lemma not in LOOKING:
        return ends and after not in ("VBZ", "VBP") and not is_describing(low)  # "doing origami", "packing stuff away"
    if token.tag == "VB":
        return not after and before.tag in NOUNS  # "about the noodles dish"
    return token.tag == "JJ" and before.tag in ("IN", "DT", "PRP$") and ends and after != "CC"
