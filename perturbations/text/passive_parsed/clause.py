"""Active captions made passive by their parse: the object opens the clause, tails stay with their words, then "by".

A caption is turned only where every word of one of its clauses has a known part; else it stays as it is.
"""

from collections.abc import Sequence

from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.passive_parsed.mend import mended
from video_contrast.perturbations.text.passive_parsed.objects import Done, done_by
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_bound
from video_contrast.perturbations.text.passive_parsed.subjects import Subject, subject_of, verbs
from video_contrast.perturbations.text.passive_parsed.tails import split
from video_contrast.perturbations.text.passive_parsed.two_verbs import behind_be, behind_places, joined, shared
from video_contrast.perturbations.text.passive_parsed.verb_words import (
    _AFTER,
    NewClause,
    agent_of,
    covers,
    people,
    plural_of,
    texts,
    verb_words,
)
from video_contrast.perturbations.text.passive_parsed.words import EXPLAINING, HOLDING, REGARDING

_GOES_ON = ("NN", "NNS", "NNP", "NNPS", "CD", "JJ", "DT", "PRP", "VB", "VBN", "VBD")  # no clause ends in front of these


def parsed_passive(caption: str, words: Parse, tokens: Sequence[Token] = ()) -> str:
    """The caption in the passive; unchanged where its parse fits no pattern.

    Args:
        caption: the text.
        words: its parse (`frames.parse`).
        tokens: its tags (`language.tag`): a verb must be one for the tagger too.
    """
    tree = Sentence(caption, mended(words))
    no_verbs = {token.start for token in tokens if token.tag[:2] != "VB"}
    if any(word.text == "displaying" and tree.words[word.head].dep != "ROOT" for word in words[:-1]):
        return caption  # notes, no sentence: "a girl sitting inside displaying on screen"
    for verb in verbs(tree):
        if words[verb].start in no_verbs:
            continue
        turned = _clause(tree, verb)
        if turned is None or _hides_verb(tree, verb, tokens=tokens):
            continue
        after = words[turned.end].tag if turned.end < len(words) else ""
        finite = words[verb].tag != "VBG" or tree.child(verb, "aux") is not None
        if after in _GOES_ON or (finite and after in ("VBZ", "VBP", "MD")):
            continue  # "a woman is wearing a dress is making a dish"
        turned = _there(tree, turned)
        if turned is None:
            continue
        text = turned.text
        if turned.start == 0 and caption[:1].isupper():
            text = text[:1].upper() + text[1:]
        before, after = caption[: words[turned.start].start], caption[words[turned.end - 1].end :]
        return before + text + after
    return caption


def _clause(tree: Sentence, verb: int) -> NewClause | None:
    if verb == 0 or (verb == 2 and [word.text for word in tree.words[:2]] == ["how", "to"]):
        return _without_agent(tree, verb)
    subject = subject_of(tree, verb)
    if subject is None:
        return behind_be(tree, verb) or behind_places(tree, verb)
    done = done_by(tree, verb)
    if done is None:
        return shared(tree, verb, subject)
    if not covers(tree, subject, done.group):
        return None
    group = verb_words(tree, done.group, plural_of(tree, done))
    agent = agent_of(tree, subject)
    if group is None or agent is None:
        return None
    if tree.words[verb].lemma == "wear" and not people(tree, subject) and tree.words[subject.head].tag == "NN":
        return None
    shows = tree.words[verb].lemma in EXPLAINING | REGARDING
    if tree.words[subject.head].lemma in HOLDING | {"song", "music"} and not shows:
        return None  # "a video of an artist created an advertisement"
    if shows and {tree.words[subject.head].text, tree.words[subject.head].lemma} & HOLDING:
        agent = f"in{agent[2:]}"  # "a video shows a man": a man is shown in a video
    turned = _direct(tree, subject, done=done, group=group, agent=agent)
    return None if turned is None else turned._replace(plural=plural_of(tree, done))


def _hides_verb(tree: Sentence, verb: int, *, tokens: Sequence[Token]) -> bool:
    """Whether the tagger sees a finite verb in subject or object where the parser reads a noun: "a cub looks in"."""
    phrases = [n for n in (tree.child(verb, "nsubj"), tree.child(verb, "dobj")) if n is not None]
    phrases += [tree.words[verb].head] if tree.words[verb].dep == "acl" else []
    phrases += [n for prep in tree.children[verb] for n in tree.children[prep] if tree.words[n].dep == "pobj"]
    for phrase in phrases:
        first, last = tree.descend(phrase)
        inside = range(tree.words[first].start, tree.words[last].end)
        clause = any(tree.words[n].dep in ("relcl", "ccomp", "advcl") for n in range(first, last + 1))
        if not clause and any(token.tag in ("VBZ", "VBD", "MD") and token.start in inside for token in tokens):
            return True
    return False


def _there(tree: Sentence, turned: NewClause) -> NewClause | None:
    """Behind "there is": "there is a song being sung", "there are songs being sung"; "the song is being sung"."""
    start = turned.start
    if (
        start < 2
        or tree.words[start - 2].text != "there"
        or tree.words[start - 1].text not in ("is", "are", "was", "were")
    ):
        return turned
    definite = turned.text.split()[0].lower() in ("the", "this", "that", "these", "those")
    finite = next((be for be in (" is being ", " are being ", " is ", " are ") if be in turned.text), None)
    bare = " being " in turned.text and finite not in (" is being ", " are being ")
    if definite and finite is not None and not bare:
        return turned._replace(start=start - 2)
    if definite or (not bare and finite not in (" is being ", " are being ")):
        return None
    text = turned.text if bare else turned.text.replace(str(finite), " being ", 1)
    many = turned.plural
    return NewClause(start - 1, turned.end, f"{'are' if many else 'is'} {text}", many)


def _without_agent(tree: Sentence, verb: int) -> NewClause | None:
    """ "chopping onion and celery": onion and celery being chopped; "how to use a tool": how a tool is used."""
    done = done_by(tree, verb) if verb or tree.words[0].tag == "VBG" else None
    if done is None or done.further is not None or done.gift is not None or any(tail.late for tail in done.tails):
        return None
    if any(tree.words[n].dep in ("acl", "relcl") for n in range(done.thing.start, done.thing.end)):
        return None
    plural = plural_of(tree, done)
    group = verb_words(tree, done.group._replace(auxiliaries=()), plural)
    if group is None or done.end < len(tree.words) - (tree.words[-1].tag == "."):
        return None
    thing = tree.text(done.thing.start, done.thing.end)
    return NewClause(max(verb - 1, 0), done.end, " ".join([thing, group, *texts(tree, list(done.tails))]))


def _direct(tree: Sentence, subject: Subject, *, done: Done, group: str, agent: str) -> NewClause | None:
    early, late = split(done.tails, tree, done.thing.head)
    if late and any(tree.words[n].text in _AFTER for n in (subject.head,)) and tree.words[late[0].start].tag == "VBG":
        return None
    described = any(tree.words[n].dep in ("acl", "relcl", "prep") for n in range(subject.start, subject.end))
    if described and any(
        is_bound(tree, tail.start, tail.end) and tree.words[tail.start].tag in ("IN", "TO") for tail in late
    ):
        return None  # "stares at a woman in the crowd before him"
    parts = [tree.text(done.thing.start, done.thing.end), group]
    if done.gift is not None:
        parts.append(tree.text(*done.gift))
    parts += texts(tree, early)
    end = done.end
    if done.further is None:
        parts += [agent, *texts(tree, late)]
        return NewClause(subject.start, end, " ".join(parts))
    return joined(tree, subject, done=done, parts=parts, late=late, agent=agent)
