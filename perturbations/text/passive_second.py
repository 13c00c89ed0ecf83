"""The verb behind "going to", and how a further verb of the agent is said: "by a man who is singing"."""

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.noun_phrases import PEOPLE, noun_phrase
from video_contrast.perturbations.text.verb_group import VerbGroup


def planned(tokens: list[Token], verb: VerbGroup) -> VerbGroup:
    """The verb behind "going to", if that is what `verb` is: "is going to play a trick"."""
    head = verb.head
    if verb.auxiliary is None or tokens[verb.auxiliary].lemma != "be" or tokens[head].text.lower() != "going":
        return verb
    follows = [token.tag for token in tokens[head + 1 : head + 3]]
    return verb._replace(head=head + 2, plan="going to") if follows == ["TO", "VB"] else verb


def agent_clause(tokens: list[Token], start: int, verb: VerbGroup) -> str | None:
    """What joins a relative clause to the agent: "who is ", "that ", "" before a bare participle; None for pronouns.

    Args:
        tokens: of the caption.
        start: where the agent begins.
        verb: the verb of the clause.
    """
    if tokens[start].tag == "PRP" or verb.adverbs:
        return None
    if verb.auxiliary is None and tokens[verb.head].tag == "VBG":
        return ""
    phrase = noun_phrase(tokens, start)
    people = phrase is not None and (tokens[phrase.head].text.lower() in PEOPLE or phrase.end > phrase.head + 1)
    pronoun = "who " if people else "that "
    if verb.auxiliary is None:
        return pronoun
    auxiliary = tokens[verb.auxiliary].text
    if auxiliary not in ("is", "are", "was", "were"):
        return None
    return f"{pronoun}{auxiliary} " if people else ""  # "by a dog running through a park"
