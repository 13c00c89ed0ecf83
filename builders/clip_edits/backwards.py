"""Captions rewritten to what a clip shows when it is played backwards.

The one action of the caption is exchanged for its counterpart of `directions.tsv`, in the same form, or the word that
says where a motion goes for the opposite one. What is in doubt is left out: captions of two actions (the other would
run backwards as well), denials, states, idioms, and places that a motion begins or ends at.
"""

from functools import cache

from video_contrast.builders.clip_edits.source_clip import LeftOut, Rewritten, table
from video_contrast.perturbations.english import Sentence, parse_one
from video_contrast.perturbations.english.forms import inflect, verb_tags
from video_contrast.perturbations.english.lexicon import words_of

_ANY = "..."
# Verbs whose next word says where a motion goes; going backwards it goes the other way.
_MOTION = words_of("motion")
_WORDS = {name: frozenset(words.split()) for name, words in table("words.tsv")}
WAYS = dict(table("ways.tsv"))
# Verb ("*": any) -> nouns with which it says something else than a motion, or one that does not come undone.
_IDIOMS = {verb: set(nouns.split()) for verb, nouns in table("idioms.tsv")}
# Verb -> the patterns that begin with it, longest first, each with its counterpart.
_PATTERNS: dict[str, list[tuple[list[str], list[str]]]] = {}
for _old, _new in sorted(table("directions.tsv"), key=lambda row: -sum(word != _ANY for word in row[0].split())):
    _PATTERNS.setdefault(_old.split()[0], []).append((_old.split(), _new.split()))


def backwards(caption: str) -> Rewritten:
    """The caption of the clip played backwards.

    Raises LeftOut: the caption has no verb of the table in that sense, or more than one action.

    >>> backwards("a man is putting a pan into the oven").caption
    'a man is taking a pan out of the oven'
    >>> backwards("a dog runs towards the sea").caption
    'a dog runs away from the sea'
    """
    sentence = parse_one(caption)
    words = sentence.words
    if any(word.dep == "neg" or word.text in ("never", "cannot", "while", "no", "without") for word in words):
        raise LeftOut("verb_may_mean_something_else")
    actions = [verb for verb in sentence.verbs if words[verb].lemma not in _WORDS["states"] | _WORDS["introducing"]]
    counterparts = [(verb, match) for verb in actions if (match := _counterpart(sentence, verb))]
    if not counterparts:
        raise LeftOut("no_direction_verb")
    verb, (places, new) = counterparts[0]
    has_second_order = sentence.is_imperative(verb) and any(
        words[n - 1].text in ("and", ",") and "VB" in verb_tags(words[n].text) for n in range(1, len(words))
    )  # "cover the pan and simmer", read as a thing
    if len(actions) > 1 or has_second_order:
        raise LeftOut("more_than_one_action")
    if _says_a_state(sentence, verb, places):
        raise LeftOut("says_a_state")
    _refuse_other_senses(sentence, verb, places, new)
    return _exchanged(sentence, places, new)


def _counterpart(sentence: Sentence, verb: int) -> tuple[list[int], list[str]] | None:
    """The counterpart of a verb with the words that belong to it: by the table, else by the way of a motion.

    Returns the places of the words that change, from the verb on, and those that take them ("..." where some stay).
    """
    lemma = sentence.words[verb].lemma
    for old, new in _PATTERNS.get(lemma, ()):
        places = _matched(sentence, verb, old)
        if places is not None:
            return places, new
    if lemma not in _MOTION:
        return None
    for child in sentence.children[verb]:
        place = child - (sentence.words[child - 1].text in ("counter", "anti"))
        for length in (3, 2, 1):
            way = " ".join(word.text for word in sentence.words[place : place + length])
            is_way = verb < place <= len(sentence) - length and way in WAYS
            if is_way and (way not in ("in", "out") or not sentence.children[place]):
                gap = [] if place == verb + 1 else [_ANY]
                return [verb, *range(place, place + length)], [lemma, *gap, *WAYS[way].split()]
    return None


def _matched(sentence: Sentence, verb: int, pattern: list[str]) -> list[int] | None:
    """The places of a pattern's words from its verb on, all of which belong to the verb; None where it differs."""
    places, gap = [verb], False
    belonging = {*sentence.children[verb], *(n for child in sentence.children[verb] for n in sentence.children[child])}
    for word in pattern[1:]:
        if word == _ANY:
            gap = True
            continue
        after = [n for n in sorted(belonging) if n > places[-1] and sentence.words[n].text == word]
        after = [n for n in after if (n > places[-1] + 1 if gap else n == places[-1] + 1)]
        if not after:
            return None
        places, gap = [*places, after[0]], False
    # Do the words say what the pattern means: that something is moved, or moves?
    dependents, particle = sentence.children[places[-1]], sentence.child(verb, "prt") is not None
    if _ANY in pattern:
        stays = pattern[0] == "turn" and dependents  # "turns clockwise on the sand"
        only = len(pattern) == 2 and particle  # "pulls up his trousers"
        holds = bool(sentence.children_with(verb, "dobj")) and not stays and not only
    elif pattern[-1] in ("in", "out"):  # "walks in the woods" says where, "walks out of" where from
        holds = not dependents
    else:
        holds = len(pattern) > 1 or not particle  # "pulls up" is no pulling
    return places if holds else None


@cache
def _conditions() -> frozenset[str]:
    """Words for the state of what an action changes: "closed", "locked", "empty", "falling"."""
    return _WORDS["conditions"] | {inflect(verb, tag) for verb in _PATTERNS for tag in ("VBN", "VBG")} - {"left"}


def _says_a_state(sentence: Sentence, verb: int, places: list[int]) -> bool:
    """Whether the caption says in which state a thing or a doer is, which is another one backwards.

    So does a relative clause ("his hat that was off"), a thing that is named twice ("a man with a hat takes off his
    hat"), and a size where something grows.
    """
    words, obj = sentence.words, sentence.object(verb)
    for place, word in enumerate(words):
        says_state = word.text in _conditions() and word.dep not in ("prep", "prt", "advmod")
        relative = word.dep == "relcl" and verb not in sentence.subtree(place)
        if relative or (says_state and place not in (*places, *sentence.verbs)):
            return True
    twice = obj is not None and [word.lemma for word in words].count(words[obj].lemma) > 1
    return twice or (words[verb].lemma in _WORDS["growth"] and any(word.text in _WORDS["sizes"] for word in words))


def _refuse_other_senses(sentence: Sentence, verb: int, places: list[int], new: list[str]) -> None:
    """Raises `LeftOut` where the rest of the caption would have to change too, or the verb says something else."""
    if _says_more(sentence, verb, places):
        raise LeftOut("says_where_it_goes")
    inner, obj = sentence.child(places[-1], "pobj"), sentence.object(verb)
    lemma = sentence.words[verb].lemma
    dangles = new[-1] in ("from", "of") and inner is None and (obj is None or _ANY in new)  # "puts it in"
    dangles = dangles or (obj is not None and bool({lemma, new[0]} & _WORDS["without object"]))
    if dangles or _is_no_motion(sentence, verb, places) or _is_led(sentence, verb, places, new):
        raise LeftOut("verb_may_mean_something_else")


def _says_more(sentence: Sentence, verb: int, places: list[int]) -> bool:
    """Whether other words say where the motion begins, ends or goes on: they would have to change as well."""
    words = sentence.words
    for child in sentence.children[verb]:
        word = words[child]
        stays = word.text in (_WORDS["staying"] if word.dep == "prep" else _WORDS["staying adverbs"])
        if child not in places and word.dep not in _WORDS["harmless"] and not stays:
            return True
    after = words[places[-1] + 1].text if places[-1] + 1 < len(words) else ""
    goes_on = after in ("and", "to", "for", "of")  # "jumps up and down", "walks up to", "to the left of the table"
    goes_on = goes_on or (words[places[-1]].text, after) in (("out", "in"), ("up", "on"), ("down", "on"))
    return len(places) > 1 and goes_on


def _is_no_motion(sentence: Sentence, verb: int, places: list[int]) -> bool:
    """Whether the clause tells of a state, a purpose or wish, or meets a person; or the verb has another sense."""
    words, word = sentence.words, sentence.words[verb]
    helps = [words[n] for n in sentence.auxiliaries(verb)]
    goals = [noun for at, noun in sentence.prepositions(verb) if noun is not None and words[at].text in ("on", "into")]
    return bool(
        (word.tag == "VBN" and not any(aid.text == "being" for aid in helps))
        or (word.dep == "relcl" and sentence.subject(verb) != word.head)  # "the car which she got on the web"
        or any(words[noun].tag == "PRP" or sentence.is_person(noun) for noun in goals)  # "items fall on him"
        or {aid.tag for aid in helps} & {"MD", "TO"}  # "can open", "about to open"
        or _has_another_sense(sentence, verb, places)
    )


def _has_another_sense(sentence: Sentence, verb: int, places: list[int]) -> bool:
    """Whether the verb, with what stands beside it, is an idiom, a posture, or says what something is supplied with."""
    words, lemma, last = sentence.words, sentence.words[verb].lemma, sentence.words[places[-1]].text
    nouns, doer = {noun.lemma for noun in words if noun.is_noun}, sentence.subject(verb)
    others = [words[n] for n in sentence.children[verb] if n not in places]
    beside = {other.text for other in others if other.dep not in _WORDS["harmless"]}
    refused_beside = {
        "enter": {"in", "on"},  # "enters in a plane"
        "leave": {"in", "on"},  # "leaves a bag on a seat"
        **dict.fromkeys(("sit", "stand", "lie"), beside),  # "stands up on a chair"
        **{supplying: {"with", "in"} for supplying in _WORDS["supplying"]},  # "covers the chicken in flour"
    }
    return bool(
        beside & refused_beside.get(lemma, set())
        or (lemma in ("sit", "stand", "lie") and words[verb].tag == "VBG")  # "lying down"
        or (lemma, last) in (("turn", "into"), ("roll", "into"))  # "turns into a frog"
        or (lemma == "jump" and last in ("up", "down") and not sentence.children[places[-1]])
        or nouns & _IDIOMS["*"].union(_IDIOMS.get(lemma, ()))
        or (lemma in ("fill", "cover", "connect") and doer is not None and not sentence.is_person(doer))
    )


def _is_led(sentence: Sentence, verb: int, places: list[int], new: list[str]) -> bool:
    """Whether a way is level ("down the street"), or something else is moved ("drives a car into a wall")."""
    words, way = sentence.words, sentence.words[places[-1]].text
    if words[verb].lemma not in _MOTION or new[0] != words[verb].lemma or way in ("on", "off"):
        return False
    inner, obj = sentence.child(places[-1], "pobj"), sentence.object(verb)
    level = way in ("up", "down") and inner is not None and words[inner].lemma not in _WORDS["steep"]
    return level or (obj is not None and obj not in places and words[obj].lemma not in _WORDS["steep"])


def _exchanged(sentence: Sentence, places: list[int], new: list[str]) -> Rewritten:
    """The caption with the counterpart in the form of its verb."""
    split = new.index(_ANY) if _ANY in new else len(new)
    tail = [n for n in places[1:] if _ANY in new and new[split + 1 :] and n != places[places.index(n) - 1] + 1]
    cut = places.index(tail[0]) if tail else len(places)
    verb = sentence.words[places[0]]
    spans = [(places[:cut], " ".join([inflect(new[0], verb.tag), *new[1:split]]))]
    if cut < len(places):
        spans.append((places[cut:], " ".join(new[split + 1 :])))
    text, at, old = "", 0, []
    for group, words in spans:
        start, end = sentence.words[group[0]].start, sentence.words[group[-1]].end
        text += sentence.caption[at:start] + words
        old.append(sentence.caption[start:end])
        at = end
    return Rewritten(text + sentence.caption[at:], " ... ".join(old), " ... ".join(words for _, words in spans))
