"""The words of a caption that can be replaced: its verbs, each with particle and preposition, and its things."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, NamedTuple

from video_contrast.perturbations.contrast.lexicon import Swap, load_lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, inflect_name, verb_word
from video_contrast.perturbations.english.lexicon import has_class, words_of

# No object, a direct object, the object of the unit's preposition; "o": verb and object are replaced together.
Frame = Literal["i", "t", "p", "o"]

# Verbs that take their meaning from what follows.
LIGHT = words_of("light_verb")
# Light verbs that are steps of recipes where nobody is named: "put the pan in the oven".
_STEPS = frozenset(["put", "take", "bring", "place"])
# Prepositions that say where or when something is done: behind them the verb may change alone.
PLACES = words_of("place_preposition")
_NO_THINGS = words_of("says_little")
# Why a noun cannot be replaced but by one that is written for it.
PERSON, SAYS_LITTLE = "a person", "a noun that says little"
_BEFORE_OF = ("out", "off", "inside", "outside", "front", "top")  # "in front of" is one preposition
_APART = "particle apart from its verb"
_CLAUSE = "clause or second object"
_WORN = ("garment", "headwear", "footwear", "jewelry", "hair")
_RELATIVE = ("who", "that", "which")
_WHERE = ("where", "when", "as", "while")
_VIDEOS = words_of("video")
_OPENS_A_NOUN = ("DT", "PRP$", "NN", "NNS", "CD", "JJ")


class Tail(NamedTuple):
    """A preposition that hangs on a verb or its object."""

    preposition: str  # its first word: "out"
    noun: str  # key of its noun; "" without one
    place: int  # of that word
    phrase: str  # all its words: "out of", "in front of"


class Gap(NamedTuple):
    """The words around a place of a caption at which words are replaced."""

    before: tuple[str, str]  # "<": the beginning
    after: tuple[str, str]  # ">": the end
    usual: float  # mean log-probability of what stands there


class VerbKey(NamedTuple):
    """The facts of a verb that its written swaps depend on, whatever else its caption says; as of `VerbSlot`."""

    unit: str
    frame: str
    noun: str
    subject: str
    passive: bool


class VerbSlot(NamedTuple):
    """One main verb of a caption."""

    unit: str  # verb, particle and preposition in dictionary form: "talk about"
    verb: str  # its lemma
    frame: Frame  # "i", "t" or "p"; "o" of `with_object`
    noun: str  # key of the object, or of the preposition's object (`Sentence.noun_key`); "" without one
    subject: str  # lemma of who does it, "person" for people, "" where the caption does not tell
    passive: bool  # whether the object stands before the verb
    tag: str  # Penn tag of the verb
    place: int  # of the verb among the caption's words
    noun_place: int | None  # of the object; None without one
    start: int  # characters of the unit
    end: int
    imperative: bool  # whether it tells somebody what to do
    tails: tuple[Tail, ...]  # prepositional phrases that hang on the verb
    adverbs: tuple[str, ...]  # adverbs that hang on the verb
    # why it cannot be replaced; None where it can. Written swaps replace a "light verb" too.
    rejection_reason: str | None
    subject_place: int | None = None  # of who does it; None where the caption does not tell
    apart: int | None = None  # place of a particle that stands behind the object ("takes a bottle out"), or None


class VerbChoice(NamedTuple):
    """A unit that could stand in a slot."""

    unit: str  # in dictionary form; "i" keeps what follows the verb as it is
    frame: str
    keeps: str = ""  # a preposition of the caption that stays behind the unit, or ""
    swap: Swap | None = None  # of the lexicon, that proposes it; None for one that is derived
    tail: Tail | None = None  # whose preposition is replaced too ("pour _ into" by "scoop _ out of"), or None

    @property
    def verb(self) -> str:
        """The unit's verb alone."""
        return verb_word(self.unit)

    @property
    def words(self) -> str:
        """The unit with the object that it brings and the preposition that stays."""
        phrase = self.swap.phrase if self.swap is not None else ""
        if not phrase:
            return f"{self.unit} {self.keeps}" if self.keeps else self.unit
        return " ".join(part for part in (self.unit, phrase, self.keeps) if part)


@dataclass(frozen=True)
class ThingKey:
    """The facts of a thing that its proposals depend on, whatever else its caption says."""

    noun: str  # its key, with the compound: "video game"
    category: str  # its class in the lexicon; "" where it has none
    unit: str  # the verb unit that governs it ("cut", "sit on"), or ""
    # "object" of the unit, "subject" of it, or "place" behind a preposition.
    relation: Literal["object", "subject", "place"]
    preposition: str  # that it stands behind, or ""
    behind: str  # all words of that: "in front of"
    subject: str  # as of `VerbSlot`, of the governing verb
    introduction: str  # "plural", "bare", "article" (a, an) or "determined"


@dataclass(frozen=True)
class ThingSlot(ThingKey):
    """One noun of a caption, with its compound word."""

    place: int  # of the noun among the caption's words
    adjectives: tuple[str, ...]  # lemmas that stand before it
    tag: str  # Penn tag of the noun; characters of compound and noun
    start: int
    end: int
    rejection_reason: str | None  # why it cannot be replaced; None where it can

    @cached_property
    def key(self) -> ThingKey:
        """The key that equal things of other captions share."""
        return ThingKey(*(getattr(self, field.name) for field in fields(ThingKey)))


def verb_slots(sentence: Sentence) -> list[VerbSlot]:
    """The main verbs of a caption in its order; those that cannot be replaced say why.

    >>> from video_contrast.perturbations.english import parse_one
    >>> [(slot.unit, slot.noun, slot.subject) for slot in verb_slots(parse_one("a man is picking up an old ball"))]
    [('pick up', 'ball', 'person')]
    """
    return [_verb_slot(sentence, place) for place in sentence.verbs]


def _verb_slot(sentence: Sentence, place: int) -> VerbSlot:
    words, word = sentence.words, sentence.words[place]
    particle, preposition = _particle(sentence, place), ""
    last = place + 1 if particle else place
    passive = sentence.is_passive(place)
    noun_place = sentence.child(place, "nsubjpass") if passive else _object(sentence, place, last)
    if word.dep in ("acl", "relcl") and word.tag == "VBN" and not sentence.child(place, "nsubj", "aux"):
        passive, noun_place = True, word.head
    frame: Frame = "t" if noun_place is not None else "i"
    inner = _prepositional_object(sentence, place, last) if noun_place is None else None
    if inner is not None:
        preposition, noun_place, frame, last = words[last + 1].text, inner, "p", last + 1
    subject = None if passive else _doer(sentence, place)
    holders = (place,) if noun_place is None or passive else (place, noun_place)
    imperative = sentence.is_imperative(place)
    unit = " ".join(part for part in (word.lemma, particle, preposition) if part)
    return VerbSlot(
        place=place,
        unit=unit,
        verb=word.lemma,
        frame=frame,
        noun=_object_key(sentence, noun_place),
        noun_place=noun_place,
        subject="person" if imperative else subject_key(sentence, subject),
        tag=word.tag,
        start=word.start,
        end=words[last].end,
        passive=passive,
        imperative=imperative,
        tails=tuple(tail for holder in holders for tail in _tails(sentence, holder, last)),
        adverbs=tuple(words[n].text for n in sentence.children_with(place, "advmod") if not place < n <= last),
        rejection_reason=_verb_rejection(sentence, place, last, unit, imperative=imperative),
        subject_place=subject,
    )


def with_object(sentence: Sentence, slot: VerbSlot) -> VerbSlot | None:
    """A verb and its object as one: "plays the guitar"; None where the object holds a clause or names two things, which
    a model that looks for things would miss, and in steps of recipes.

    >>> from video_contrast.perturbations.english import parse_one
    >>> sentence = parse_one("a man plays the guitar on a stage")
    >>> slot = with_object(sentence, verb_slots(sentence)[0])
    >>> (slot.frame, sentence.caption[slot.start : slot.end])
    ('o', 'plays the guitar')
    """
    at, words, particle = slot.noun_place, sentence.words, sentence.particle(slot.place)
    if slot.rejection_reason == _CLAUSE:
        slot, at = _with_second_object(sentence, slot)
    if slot.frame == "i" or slot.passive or slot.imperative or at is None or at < slot.place:
        return None
    phrase = _without_place(sentence, at) if slot.verb in (*LIGHT, "make") else sentence.subtree(at)
    nouns = [n for n in phrase if words[n].is_noun and words[n].dep not in ("compound", "nmod")]
    if len(nouns) > 1 or any(words[n].is_verb for n in phrase):
        return None
    reason = None if slot.rejection_reason in ("light verb", _CLAUSE) else slot.rejection_reason
    if reason == _APART and particle == phrase[-1] + 1:  # "gives a thumbs up"
        reason, phrase = None, [*phrase, particle]
    end = max(slot.end, words[phrase[-1]].end)
    tails = tuple(tail for tail in slot.tails if tail.place not in phrase)
    return slot._replace(frame="o", end=end, rejection_reason=reason, tails=tails)


def _without_place(sentence: Sentence, at: int) -> list[int]:
    """The words of an object, without the place behind it: "takes her first steps towards her mother"."""
    places = [n for n, _ in sentence.prepositions(at) if sentence.words[n].text in PLACES - {"with"}]
    return [n for n in sentence.subtree(at) if not places or n < places[0]]


def _with_second_object(sentence: Sentence, slot: VerbSlot) -> tuple[VerbSlot, int | None]:
    """A verb with both of its objects, or an object and what becomes of it, and the place of the object that names the
    action: "shows him a card", "dyes his hair blue"; itself, and None, for others."""
    words, objects = sentence.words, sentence.children_with(slot.place, "dobj", "dative", "oprd")
    if len(objects) != 2 or sentence.children_with(slot.place, "ccomp", "xcomp", "acomp"):
        return slot, None
    becomes = words[objects[1]].tag == "JJ"
    at, last = (objects[0], objects[1]) if becomes else (objects[1], sentence.subtree(objects[1])[-1])
    if not words[at].is_noun or any(n < last for n, _ in sentence.prepositions(slot.place) if n not in objects):
        return slot, None
    tails = tuple(tail for tail in slot.tails if tail.place > last)
    noun = _object_key(sentence, at)
    return slot._replace(frame="t", noun=noun, noun_place=at, end=words[last].end, tails=tails), at


def with_particle(sentence: Sentence, slot: VerbSlot) -> VerbSlot | None:
    """A verb with its object and the particle behind that: "takes a bottle out"; None for others.

    >>> from video_contrast.perturbations.english import parse_one
    >>> sentence = parse_one("a man takes a bottle out")
    >>> slot = with_particle(sentence, verb_slots(sentence)[0])
    >>> (slot.unit, slot.noun, sentence.caption[slot.start : slot.end])
    ('take out', 'bottle', 'takes a bottle out')
    """
    particle, at = sentence.particle(slot.place), slot.noun_place
    if slot.rejection_reason != _APART or particle is None or at is None or slot.passive:
        return None
    if sentence.subtree(at) != list(range(slot.place + 1, particle)):
        return None
    unit = f"{slot.verb} {sentence.words[particle].text}"
    tails = (*slot.tails, *_tails(sentence, particle, particle))
    end = sentence.words[particle].end
    return slot._replace(unit=unit, end=end, tails=tails, apart=particle, rejection_reason=None)


def with_antecedent(sentence: Sentence, slot: VerbSlot) -> VerbSlot:
    """A verb with the noun that "it" or "them" behind it stands for, the last object of its number; itself for others.

    >>> from video_contrast.perturbations.english import parse_one
    >>> sentence = parse_one("a man picks up a towel and throws it")
    >>> with_antecedent(sentence, verb_slots(sentence)[1]).noun
    'towel'
    """
    at, words = slot.noun_place, sentence.words
    if at is None or words[at].text not in ("it", "them"):
        return slot
    tag = "NNS" if words[at].text == "them" else "NN"
    objects = [n for n in range(at) if words[n].dep == "dobj" and words[n].tag == tag]
    return slot._replace(noun=sentence.noun_key(objects[-1])) if objects else slot


def _doer(sentence: Sentence, verb: int) -> int | None:
    """The doer of a verb: `Sentence.subject`, but neither a video, which shows somebody, nor what is worn.

    >>> from video_contrast.perturbations.english import parse_one
    >>> sentence = parse_one("the video shows a girl sitting on a bed, brushing a cat")
    >>> [sentence.words[slot.subject_place].text for slot in verb_slots(sentence)[1:]]
    ['girl', 'girl']
    """
    at, words = sentence.subject(verb), sentence.words
    if at is None and verb and words[verb].tag == "VBG" and words[verb - 1].is_noun:
        return verb - 1  # "close up shot of hands planting a tree"
    if at is None or words[verb].head == verb:
        return at
    holder = words[at].head
    if words[at].dep == "nsubj" and holder != verb and words[verb].tag == "VBG" and words[at].lemma in _VIDEOS:
        return _shown(sentence, holder, verb)
    for _ in words:
        if words[at].dep not in ("dobj", "pobj") or not _is_a(sentence, at, *_WORN):
            break
        holder = words[at].head
        wearer: int | None = words[holder].head if words[at].dep == "pobj" else sentence.subject(holder)
        if wearer is not None and words[wearer].is_verb:
            wearer = _shown(sentence, wearer, at) or sentence.subject(wearer)
        if wearer is None or not wearer < at:
            break
        at = wearer
    return at


def _shown(sentence: Sentence, verb: int, before: int) -> int | None:
    """The one whom a video shows: the object of a verb or of its "with", or the doer in the clause behind it."""
    clause, behind = sentence.child(verb, "ccomp"), [noun for _, noun in sentence.prepositions(verb)]
    places = (sentence.child(verb, "dobj"), sentence.child(clause, "nsubj") if clause is not None else None, *behind)
    return next((n for n in places if n is not None and n < before), None)


def _is_a(sentence: Sentence, place: int, *classes: str) -> bool:
    """Whether the commonest meaning of a noun is of one of some classes."""
    things = load_lexicon().things(sentence.words[place].lemma) or load_lexicon().things(sentence.words[place].text)
    return bool(things) and things[0].category in classes


def _particle(sentence: Sentence, place: int) -> str:
    """The particle right behind a verb: "up" of "pick up"; "" without one."""
    beside = sentence.words[place + 1] if place + 1 < len(sentence) else None
    if beside is None or beside.head != place:
        return ""
    asleep = beside.dep == "acomp" and beside.text == "asleep"
    is_particle = asleep or beside.dep == "prt" or (beside.dep == "advmod" and has_class(beside.text, "particle"))
    return beside.text if is_particle else ""


def _object(sentence: Sentence, place: int, last: int) -> int | None:
    """The object of a verb, also where the parser hangs it on the particle, at `last`: "tears down a wall"."""
    obj = sentence.object(place)
    return sentence.child(last, "pobj") if obj is None and last > place else obj


def _prepositional_object(sentence: Sentence, place: int, last: int) -> int | None:
    """The object of a preposition right behind `last` that hangs on the verb or its particle."""
    words, behind = sentence.words, last + 1
    if behind == len(words) or words[behind].dep not in ("prep", "dative") or words[behind].head not in (place, last):
        return None
    return sentence.child(behind, "pobj")


def _tails(sentence: Sentence, holder: int, last: int) -> list[Tail]:
    """The prepositional phrases that hang on a word behind `last`."""
    words, tails = sentence.words, []
    for at, noun in sentence.prepositions(holder):
        preposition = phrase = words[at].text
        if at <= last or preposition == "of":
            continue
        behind = [word.text for word in words[at + 1 : at + 3]]
        if behind[:1] == ["of"] and words[at + 1].head == at:
            noun, phrase = sentence.child(at + 1, "pobj"), f"{preposition} of"
        elif behind[1:] == ["of"] and behind[0] in _BEFORE_OF:
            noun, phrase = sentence.child(at + 2, "pobj"), f"{preposition} {behind[0]} of"
        tails.append(Tail(preposition, sentence.noun_key(noun) if noun is not None else "", at, phrase))
    return tails


def _object_key(sentence: Sentence, place: int | None) -> str:
    """`Sentence.noun_key`; "person" for pronouns of persons, "" for other pronouns."""
    if place is None:
        return ""
    return "person" if has_class(sentence.words[place].text, "for_a_person") else sentence.noun_key(place)


def subject_key(sentence: Sentence, place: int | None) -> str:
    """The lemma of who does something; "person" for people, "" where there is none or nothing is said of it."""
    if place is None:
        return ""
    return "person" if sentence.is_person(place) else sentence.noun_key(place)


def _verb_rejection(sentence: Sentence, place: int, last: int, unit: str, *, imperative: bool) -> str | None:
    lemma = sentence.words[place].lemma
    if lemma == "be":
        return "light verb"
    if reason := _form_rejection(sentence, place):
        return reason
    if [word.text for word in sentence.words[last + 1 : last + 3]] == ["and", "forth"]:
        return "back and forth"
    if reason := _clause_rejection(sentence, place, last) or _object_rejection(sentence, place, last):
        return reason
    is_light = lemma in LIGHT and not (imperative and lemma in _STEPS)
    # "put on" and "go down" name an action that shows.
    shows = is_light and " " in unit and any(action.is_visible for action in load_lexicon().actions(unit))
    return "light verb" if is_light and not shows else None


def _form_rejection(sentence: Sentence, place: int) -> str | None:
    """Why a word is no verb that another could replace."""
    words, word = sentence.words, sentence.words[place]
    children = [n for n in sentence.children[place] if words[n].text != "asleep"]
    labels = {words[n].dep for n in children if words[n].dep != "dative" or words[n].tag != "IN"}
    if not word.text.isalpha() or len(word.text) < 3 or inflect(word.lemma, word.tag) != word.text:
        return "form not known"
    if word.dep in ("nsubj", "dobj", "pobj", "npadvmod", "csubj", "acomp", "attr") or _names_a_shot(sentence, place):
        return "not the verb of a clause"
    if word.text == "left" and sentence.object(place) is None and not sentence.is_passive(place):  # "camera pans left"
        return "not the verb of a clause"
    doer = sentence.child(place, "nsubj")
    if doer is not None and words[doer].lemma in _VIDEOS:
        return "says what a video shows"
    if sentence.is_negated(place):
        return "negated"
    clause = labels & {"ccomp", "xcomp", "dative", "acomp", "csubj", "oprd", "attr"}
    if clause or len(sentence.children_with(place, "dobj")) > 1:
        return _CLAUSE
    return "passive with its agent" if "agent" in labels else None


def _names_a_shot(sentence: Sentence, place: int) -> bool:
    """Whether a caption begins or ends as those of stock videos do: "close up of hands", "pan down shot of a lake"."""
    words = [word.text for word in sentence.words]
    if words[place : place + 2] == ["close", "up"] and words[place - 1] == ",":
        return True
    behind = words[1:5] if place == 0 else []
    return behind[:2] == ["up", "of"] or not words_of("shot").isdisjoint(behind[:3])


def _clause_rejection(sentence: Sentence, place: int, last: int) -> str | None:
    """Why a verb cannot change alone: it shares its object with another."""
    words = sentence.words
    following = words[last + 1] if last + 1 < len(words) else None
    particle = sentence.particle(place)
    with_what = [n for n, _ in sentence.prepositions(place) if words[n].text == "with"]  # "with headphones on"
    if particle is not None and particle != place + 1 and not any(place < n < particle for n in with_what):
        return _APART
    if last == place and following is not None and (following.dep == "prt" or following.text in ("and", "or")):
        conjuncts = sentence.children_with(place, "conj")
        if following.dep == "prt" or (sentence.object(place) is None and any(sentence.object(n) for n in conjuncts)):
            return "shares its object"
    return None


def _object_rejection(sentence: Sentence, place: int, last: int) -> str | None:
    """The reason why a verb's object is not sure."""
    words, word = sentence.words, sentence.words[place]
    following = words[last + 1] if last + 1 < len(words) else None
    bare = last == place or words[last].dep in ("prt", "advmod")
    plain = bare and _object(sentence, place, last) is None and not sentence.is_passive(place)
    # "sneezes a few times"
    how_often = following is not None and "npadvmod" in (following.dep, words[following.head].dep)
    if plain and following is not None and following.tag in _OPENS_A_NOUN and not how_often:
        return "object not found by the parser"
    obj, own = sentence.object(place), sentence.child(place, "nsubj", "nsubjpass")
    relative = word.dep == "relcl" and own is not None and words[own].text not in _RELATIVE
    if (obj is not None and obj < place) or (relative and not _tells_where(sentence, place)):
        return "object before its verb"
    return "passive without an auxiliary" if _is_bare_participle(sentence, place) else None


def _tells_where(sentence: Sentence, place: int) -> bool:
    """Whether the clause of a verb hangs on a place or a time: "a harbor where boats rock", "a parade in which ..."."""
    before = [n for n in sentence.children_with(place, "advmod", "prep") if n < place]
    return any(sentence.words[n].text in _WHERE or sentence.words[n + 1].text == "which" for n in before)


def _is_bare_participle(sentence: Sentence, place: int) -> bool:
    """Whether a verb may be a passive without an auxiliary."""
    word, labels = sentence.words[place], {sentence.words[n].dep for n in sentence.children[place]}
    perfect = any(sentence.words[n].lemma == "have" for n in sentence.children_with(place, "aux"))
    if "auxpass" in labels or perfect or word.tag not in ("VBD", "VBN"):
        return False
    if word.tag == "VBN" and word.dep not in ("acl", "relcl", "conj"):
        return True
    return word.dep in ("acl", "ROOT") and not labels & {"nsubj", "prep", "agent", "prt"}


def thing_slots(sentence: Sentence) -> list[ThingSlot]:
    """The common nouns of a caption in its order; those that cannot be replaced say why.

    >>> from video_contrast.perturbations.english import parse_one
    >>> [(slot.noun, slot.unit, slot.relation) for slot in thing_slots(parse_one("a dog sits on the red car"))]
    [('dog', 'sit on', 'subject'), ('car', 'sit on', 'object')]
    """
    verbs = {slot.place: slot for slot in verb_slots(sentence)}
    by_noun = {slot.noun_place: slot for slot in verbs.values() if slot.noun_place is not None}
    by_subject = {slot.subject_place: slot for slot in reversed(verbs.values()) if slot.subject_place is not None}
    places = [n for n in sentence.noun_phrases() if sentence.words[n].tag in ("NN", "NNS")]
    return [_thing_slot(sentence, place, verbs, by_noun, by_subject) for place in places]


def _thing_slot(
    sentence: Sentence,
    place: int,
    verbs: dict[int, VerbSlot],
    by_noun: dict[int, VerbSlot],
    by_subject: dict[int, VerbSlot],
) -> ThingSlot:
    words, word = sentence.words, sentence.words[place]
    compound = sentence.compound(place)
    start = words[place - 1].start if compound else word.start
    key = f"{compound} {word.lemma}".strip()
    lexicon = load_lexicon()
    if not lexicon.things(key) and lexicon.things(word.text):
        key = f"{compound} {word.text}".strip()  # "sunglasses" has no singular there
    things = lexicon.things(key) or lexicon.things(key.rpartition(" ")[2])
    first = place  # of things that are joined: "puts on a shirt and a hat"
    while words[first].dep == "conj" and words[words[first].head].is_noun:
        first = words[first].head
    governor = by_noun.get(first)
    relation: Literal["object", "subject", "place"] = "object" if governor is not None else "place"
    preposition, behind, unit, subject = "", "", "", ""
    if governor is not None:
        unit, subject = (with_particle(sentence, governor) or governor).unit, governor.subject
        preposition = behind = unit.rpartition(" ")[2] if governor.frame == "p" else ""
    elif first in by_subject:
        relation, unit = "subject", by_subject[first].unit
    elif words[first].dep == "pobj":
        at = words[first].head
        preposition = behind = words[at].text
        holder = words[at].head
        if behind == "of" and words[holder].text in _BEFORE_OF:  # "out of", "in front of"
            behind, holder = f"{words[holder].text} of", words[holder].head
            if words[holder].dep == "prep":
                behind, holder = f"{words[holder].text} {behind}", words[holder].head
        if holder in verbs:
            unit, subject = f"{verbs[holder].verb} {behind}", verbs[holder].subject
    return ThingSlot(
        place=place,
        noun=key,
        category=things[0].category if things else "",
        unit=unit,
        relation=relation,
        preposition=preposition,
        behind=behind,
        subject=subject,
        introduction=introduction(sentence, place),
        adjectives=tuple(words[n].lemma for n in sentence.children_with(place, "amod") if n < place),
        tag=word.tag,
        start=start,
        end=word.end,
        rejection_reason=_thing_rejection(sentence, place, key, in_lexicon=bool(things), does=place in by_subject),
    )


def introduction(sentence: Sentence, place: int) -> str:
    """The introduction of a noun: "plural", "bare" (nothing stands before a singular), "article" or "determined"."""
    if any(sentence.words[n].text in ("a", "an") for n in sentence.children_with(place, "det")):
        return "article"
    if sentence.words[place].tag in ("NNS", "NNPS"):
        return "plural"
    return "bare" if sentence.child(place, "det", "poss", "nummod", "predet", "quantmod") is None else "determined"


def _thing_rejection(sentence: Sentence, place: int, key: str, *, in_lexicon: bool, does: bool) -> str | None:
    words, word = sentence.words, sentence.words[place]
    of = [n for n in sentence.children[place] if words[n].text == "of"]
    if reason := _name_rejection(sentence, place, key):
        return reason
    is_person = sentence.is_person(place)
    if has_class(word.lemma, "quantity") and of:
        return "so much of another noun"
    if not (in_lexicon or is_person or word.lemma in _NO_THINGS):
        return "noun not in the lexicon"
    if any(words[n].dep == "prep" for n in of):
        return "described by another noun"
    if word.dep in ("npadvmod", "ROOT", "appos", "dep") and not does:
        return "not governed by a verb or preposition"
    if sum(other.is_noun and other.lemma == word.lemma for other in words) > 1:
        return "named twice"
    if is_person:
        return PERSON
    return SAYS_LITTLE if word.lemma in _NO_THINGS else None


def _name_rejection(sentence: Sentence, place: int, key: str) -> str | None:
    """Why the words of a thing are not its name in one of its forms."""
    words, word = sentence.words, sentence.words[place]
    before = [n for n in sentence.children_with(place, "compound", "nmod") if n < place]
    if not word.text.isalpha() or len(word.text) < 3:
        return "form not known"
    # "living room carpet" is no room carpet, and "hat waves" may be a verb.
    longer_compound = place > 1 and load_lexicon().things(f"{words[place - 2].text} {words[place - 1].lemma}")
    if before not in ([], [place - 1]) or (before and (longer_compound or sentence.may_be_verb(place))):
        return "long compound"
    wording = " ".join(words[n].text for n in (*before, place))
    return None if wording in (key, inflect_name(key, word.tag)) else "form not known"


class CaptionReading:
    """One parsed caption: its slots, its words without full stops and commas, and the lemmas of its nouns."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.caption, self.words = sentence.caption, sentence.texts
        self.gaps: dict[tuple[int, int], Gap] = {}  # by the characters that are replaced, where they are known

    @cached_property
    def verbs(self) -> list[VerbSlot]:
        """The caption's main verbs."""
        return verb_slots(self.sentence)

    @cached_property
    def things(self) -> list[ThingSlot]:
        """The caption's common nouns."""
        return thing_slots(self.sentence)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Lemmas of its nouns, compounds included."""
        keys = {self.sentence.noun_key(place) for place in self.sentence.noun_phrases()}
        return frozenset({word.lemma for word in self.sentence.words if word.is_noun} | keys - {""})

    def governor(self, slot: ThingSlot) -> VerbSlot | None:
        """The verb that a thing is subject or object of, or that its preposition hangs on."""
        words = self.sentence.words
        of_preposition = words[words[slot.place].head].head if words[slot.place].dep == "pobj" else None
        return next(
            (verb for verb in self.verbs if slot.place in (verb.noun_place, verb.subject_place)),
            next((verb for verb in self.verbs if verb.place == of_preposition), None),
        )


@dataclass(frozen=True)
class ClipReading:
    """A clip: captions that may be contrasted, and further true ones, which only reject contrasts."""

    id: str
    readings: Sequence[CaptionReading]
    other_captions: Sequence[CaptionReading] = ()

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of all captions' verbs."""
        return frozenset(slot.unit for reading in self._all for slot in reading.verbs)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The lemmas of all captions' verbs."""
        return frozenset(word.lemma for reading in self._all for word in reading.sentence.words if word.is_verb)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all captions."""
        return frozenset(word.text for reading in self._all for word in reading.sentence.words)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The lemmas of all captions' nouns."""
        return frozenset(noun for reading in self._all for noun in reading.nouns)

    @property
    def _all(self) -> list[CaptionReading]:
        return [*self.readings, *self.other_captions]
