"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption is turned only where all of it fits a pattern that the rules know; every other caption stays as it is, since
half a passive ("added by in a kitchen someone") is no natural rewriting. The checkpoint form is in `style`.
"""

from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.language import Token
from video_contrast.perturbations.language.fitting import within
from video_contrast.perturbations.text.imperative import imperatives, participle, passive_imperative
from video_contrast.perturbations.text.noun_phrases import PEOPLE, NounPhrase
from video_contrast.perturbations.text.passive_object import (
    FINITE,
    last_word,
    moved_particle,
    object_of,
    prepositions_of,
)
from video_contrast.perturbations.text.passive_parsed import parsed_passive
from video_contrast.perturbations.text.passive_rest import places_end, rest_is_safe
from video_contrast.perturbations.text.passive_second import agent_clause, planned
from video_contrast.perturbations.text.passive_subject import turned_object
from video_contrast.perturbations.text.passive_tags import mended
from video_contrast.perturbations.text.passive_words import ALONE, CLAUSES, SHARING
from video_contrast.perturbations.text.verb_group import (
    FurtherVerb,
    VerbGroup,
    clause_start,
    further_verb,
    inner_clauses,
    subject_and_verb,
)

_DEFINITE = frozenset("the this that these those".split())  # noqa: SIM905
_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}


def passive(caption: str, tokens: list[Token], words: Parse | None = None) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    Args:
        caption: the text.
        tokens: its tags.
        words: its parse, which decides where there is one.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    if words is not None:
        return parsed_passive(caption, words, tokens)
    return _tagged_passive(caption, tokens)


def _tagged_passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive by its tags alone."""
    tokens = mended(tokens)
    if tokens and tokens[0].tag == "VBG":
        return _without_agent(caption, tokens)
    there = [token.text.lower() for token in tokens[:2]] in (["there", "is"], ["there", "are"])
    whole = _there(caption, tokens) if there else _clause(caption, tokens, clause_start(tokens))
    if whole is not None:
        return whole
    for start in inner_clauses(tokens):
        inner = _clause(caption, tokens, start)
        if inner is not None:
            return inner
    return _how_to(caption, tokens) or caption


def _how_to(caption: str, tokens: list[Token]) -> str | None:
    """ "how to use a tool": how a tool is used."""
    for place in range(len(tokens) - 3):
        if tokens[place].text.lower() != "how" or [t.tag for t in tokens[place + 1 : place + 3]] != ["TO", "VB"]:
            continue
        verb = VerbGroup(None, (), place + 2)
        clause = object_of(tokens, verb)
        part = None if clause is None else turned_object(caption, tokens, verb, clause)
        behind = None if part is None else places_end(tokens, part.rest)
        safe = behind is not None and (behind == last_word(tokens) or tokens[behind].text.lower() in CLAUSES)
        if part is None or not safe or part.gift:
            return None
        done = [
            part.words,
            _be(False, tokens, part.thing),
            participle(tokens[place + 2].lemma),
            part.particle,
            part.moved,
        ]
        return f"{caption[: tokens[place].end]} {' '.join(w for w in done if w)}{caption[tokens[part.rest - 1].end :]}"
    return None


def _without_agent(caption: str, tokens: list[Token]) -> str:
    """ "chopping onion and celery": onion and celery being chopped."""
    verb = VerbGroup(None, (), 0)
    clause = object_of(tokens, verb)
    if clause is None or any(token.tag in (*FINITE, "VBG") for token in tokens[1:]):
        return caption
    particle, thing = clause
    moved = "" if particle else moved_particle(tokens, tokens[0], thing.end)
    if not rest_is_safe(tokens, thing.end + bool(moved), people=False, topic=False):
        return caption
    words = caption[tokens[thing.start].start : tokens[thing.end - 1].end]
    done = " ".join(word for word in (words, "being", participle(tokens[0].lemma), particle, moved) if word)
    done = done[:1].upper() + done[1:] if caption[:1].isupper() else done
    return done + caption[tokens[thing.end - 1 + bool(moved)].end :]


def _there(caption: str, tokens: list[Token]) -> str | None:
    """ "there is a man singing a song": there is a song being sung by a man; "the song": the song is being sung ...

    "there is a man is singing a song", as captions often say, has the same passives.
    """
    read = subject_and_verb(tokens, 2)
    if read is None:
        return None
    if tokens[read[1].head].tag == "VBZ" and read[1].auxiliary is None:  # "there is a man explains some tricks"
        finite = _clause(caption, tokens, 2)
        return None if finite is None else finite[tokens[2].start :]
    if tokens[read[1].head].tag != "VBG":
        return None
    helped = read[1].auxiliary
    if helped is not None and (tokens[helped].lemma != "be" or helped != read[0]):
        return None
    thing = object_of(tokens, read[1]._replace(auxiliary=None))
    done = _clause(caption, tokens[:helped] + tokens[helped + 1 :] if helped is not None else tokens, 2)
    if thing is None or done is None:
        return None
    said = done[tokens[2].start :]
    definite = tokens[thing[1].start].text.lower() in _DEFINITE or tokens[thing[1].start].tag in ("PRP$", "NNP")
    if not definite:
        return f"{caption[: tokens[0].end]} {_be(False, tokens, thing[1])} {said}"
    whole = said.replace(" being ", f" {_be(False, tokens, thing[1])} being ", 1)
    return whole[:1].upper() + whole[1:] if caption[:1].isupper() else whole


def _clause(caption: str, tokens: list[Token], lead: int) -> str | None:
    """The caption with the clause that begins at `lead` and ends it in the passive; None where the rules do not fit.

    The verb right behind the subject has the object, or one that "and" joins to it.
    """
    read = subject_and_verb(tokens, lead)
    if read is None:
        return None
    subject_end, verb = read
    further = further_verb(tokens, verb)  # "is singing and playing a guitar": by someone who is singing
    verb = planned(tokens, verb)
    clause = object_of(tokens, verb)
    relative, also = "", ""
    shared = further is not None and _shares_object(tokens, verb, further.joint)
    if clause is None and further is not None and not shared:  # "chopping and wrapping up food" is both of the food
        relative = caption[tokens[verb.head].start : tokens[further.joint - 1].end]
        first, verb = verb, further.verb
        clause = object_of(tokens, verb)
        if clause is not None and tokens[clause[1].start].tag == "PRP":
            return None  # "it is being folded by a woman who is taking a chair apart"
    if clause is None and shared and further is not None and tokens[verb.head].lemma in SHARING:
        clause, also = object_of(tokens, further.verb), _also(tokens, further)
        if clause is not None and clause[0] and clause[0] != "about":
            return None  # "playing and walking on the floor"
    part = None if clause is None else turned_object(caption, tokens, verb, clause)
    if part is None:
        return None
    people = any(token.text.lower() in PEOPLE for token in tokens[lead:subject_end])
    last = len(tokens) if rest_is_safe(tokens, part.rest, people=people, topic=part.topic) else -1
    if last < 0 and not relative and further is not None and places_end(tokens, part.rest) == further.joint:
        last = further.joint
        relative = caption[further.start :].rstrip(" .")
        first = further.verb
    if last < 0:
        return None
    subject = caption[tokens[lead].start : tokens[subject_end - 1].end]
    agent = _AFTER.get(subject.lower()) or within(subject, tokens[lead].tag)
    group = " ".join(w for w in (*_group(tokens, verb, part.thing), also, part.particle, part.moved, part.gift) if w)
    done = f"{part.words} {group}"
    if relative:
        who = agent_clause(tokens, lead, first)
        if who is None:
            return None
        places = places_end(tokens, part.rest)
        done += f"{caption[tokens[part.rest - 1].end : tokens[places - 1].end]} by {agent} {who}{relative}"
        done += caption[tokens[places - 1].end :] if last == len(tokens) else ""
    else:
        done += f" by {agent}{caption[tokens[part.rest - 1].end :]}"
    if not lead and caption[:1].isupper():
        done = done[:1].upper() + done[1:]
    return caption[: tokens[lead].start] + done


def _also(tokens: list[Token], further: FurtherVerb) -> str:
    """The second participle of two verbs of one object: "and then poured"."""
    between = [token.text for token in tokens[further.joint : further.verb.head] if token.tag in ("CC", "RB")]
    return " ".join([*between, participle(tokens[further.verb.head].lemma)])


def _shares_object(tokens: list[Token], verb: VerbGroup, joint: int) -> bool:
    """Whether a verb in front of "and" has the object behind it: "chopping and wrapping", "talks about and shows"."""
    if joint == verb.head + 1:
        return tokens[verb.head].lemma not in ALONE
    preposition = tokens[joint - 1].text.lower()
    return preposition in prepositions_of(tokens[verb.head].lemma) and preposition != "around"


def _group(tokens: list[Token], verb: VerbGroup, thing: NounPhrase) -> list[str]:
    """The passive verb words: "is done", "was being done", "can be done", "has been done"."""
    head = tokens[verb.head]
    done = participle(head.lemma)
    if verb.adverbs[-1:] == ("test",):  # "test drives a car"
        done, verb = f"test {done}", verb._replace(adverbs=verb.adverbs[:-1])
    if verb.auxiliary is None:
        if head.tag == "VBG":  # "a man singing a song": the song being sung
            return [*verb.adverbs, "being", done]
        return [_be(head.tag == "VBD", tokens, thing), *verb.adverbs, done]
    first = tokens[verb.auxiliary]
    if verb.plan:
        return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, verb.plan, "be", done]
    if first.tag == "MD":
        return [first.text, *verb.adverbs, "be", done]
    if first.lemma == "have":
        had = "had" if first.tag == "VBD" else "have" if thing.plural else "has"
        return [had, *verb.adverbs, "been", done]
    return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, "being", done]


def _be(past: bool, tokens: list[Token], thing: NounPhrase) -> str:
    if tokens[thing.head].text.lower() == "me" and thing.end == thing.start + 1:
        return "was" if past else "am"
    if past:
        return "were" if thing.plural else "was"
    return "are" if thing.plural else "is"
