"""A parsed caption and what rules ask of it: who does what to whom, with which particle, in which clause.

Words are named by their place in `Sentence.words`; labels are those of spaCy's English models (nsubj, dobj, prt ...).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from video_contrast.perturbations.english.forms import inflect, verb_tags
from video_contrast.perturbations.english.lexicon import has_class

NOUN_TAGS = ("NN", "NNS", "NNP", "NNPS")
_AUXILIARY = ("aux", "auxpass")
_SINGULAR = ("a", "an", "one", "each", "every", "another")
_SUBJECT = ("nsubj", "nsubjpass", "expl", "csubj")
_BEFORE_IMPERATIVES = ("advmod", "prep", "punct", "neg", "aux", "intj", "cc", "advcl", "npadvmod", "mark")
_FINITE = ("VBZ", "VBP", "VBD", "MD")
_CLAUSE = ("conj", "advcl", "ccomp", "relcl", "acl", "xcomp", "pcomp", "csubj", "parataxis", "dep")


class Word(NamedTuple):
    """One word: `caption[start:end].lower() == text`."""

    text: str  # in lower case
    tag: str  # Penn Treebank tag
    lemma: str
    dep: str  # label of the arc to its head
    head: int  # place of its head; its own place for the root
    start: int  # characters in the caption
    end: int

    @property
    def is_noun(self) -> bool:
        """Whether it is a common or proper noun."""
        return self.tag in NOUN_TAGS

    @property
    def is_verb(self) -> bool:
        """Whether it has the tag of a verb form (auxiliaries included, modals not)."""
        return self.tag.startswith("VB")


class Sentence:
    """A caption with its dependency tree."""

    def __init__(self, caption: str, words: tuple[Word, ...]) -> None:
        self.caption = caption
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def children(self) -> list[list[int]]:
        """For each word the places of the words that hang on it, in order."""
        children: list[list[int]] = [[] for _ in self.words]
        for place, word in enumerate(self.words):
            if word.head != place:
                children[word.head].append(place)
        return children

    @cached_property
    def verbs(self) -> tuple[int, ...]:
        """The places of the main verbs: no auxiliaries, no participles that describe a noun before it."""
        return tuple(
            place
            for place, word in enumerate(self.words)
            if word.is_verb and word.dep not in (*_AUXILIARY, "amod", "compound", "nmod")
        )

    @cached_property
    def root(self) -> int | None:
        """The place of the first root; None for a caption without words."""
        return next((place for place, word in enumerate(self.words) if word.head == place), None)

    def child(self, place: int, *deps: str) -> int | None:
        """The first word with one of the labels that hangs on the word at `place`."""
        return next((n for n in self.children[place] if self.words[n].dep in deps), None)

    def children_with(self, place: int, *deps: str) -> list[int]:
        """All words with one of the labels that hang on the word at `place`."""
        return [n for n in self.children[place] if self.words[n].dep in deps]

    def subtree(self, place: int) -> list[int]:
        """The places of a word and of all that hangs on it, in order."""
        places, pending = [], [place]
        while pending:
            at = pending.pop()
            places.append(at)
            pending += self.children[at]
        return sorted(places)

    def span(self, place: int) -> tuple[int, int]:
        """First place and place behind the last of a word with all that hangs on it."""
        places = self.subtree(place)
        return places[0], places[-1] + 1

    def text(self, start: int, end: int) -> str:
        """The caption's own text of the words `start` to `end` (behind the last)."""
        return self.caption[self.words[start].start : self.words[end - 1].end] if end > start else ""

    def ancestors(self, place: int) -> Iterator[int]:
        """The heads of a word, from its own upwards."""
        for _ in self.words:  # bounded, whatever the tree
            head = self.words[place].head
            if head == place:
                return
            place = head
            yield place

    def subject(self, verb: int) -> int | None:
        """The word that does what a verb says (undergoes it, in a passive); None where the caption does not tell.

        Joined verbs and infinitives take the subject of the verb that they hang on; a participle behind a noun, and
        a relative clause, take that noun.
        """
        words = self.words
        for _ in words:
            own = self.child(verb, "nsubj", "nsubjpass")
            word = words[verb]
            head = words[word.head]
            if own is not None:
                relative = words[own].text in ("who", "that", "which") and word.dep == "relcl"
                return word.head if relative else own
            if word.head == verb or word.dep not in _CLAUSE:
                return None
            if word.dep in ("acl", "relcl") and (head.is_noun or head.tag == "PRP"):
                return word.head
            if head.is_noun:
                return word.head if word.dep in ("conj", "advcl", "dep") else None
            obj = self.child(word.head, "dobj") if word.dep == "xcomp" and word.tag == "VBG" else None
            if obj is not None:
                return obj
            if not (head.is_verb or head.tag == "MD"):
                return None
            verb = word.head
        return None

    def has_subject(self, verb: int) -> bool:
        """Whether a verb has a subject, "there" and clauses included."""
        return self.subject(verb) is not None or self.child(verb, "expl", "csubj") is not None

    def object(self, verb: int) -> int | None:
        """The direct object of a verb; None without one (or with two)."""
        objects = self.children_with(verb, "dobj")
        return objects[0] if len(objects) == 1 else None

    def agent(self, verb: int) -> int | None:
        """The noun behind "by" of a passive."""
        by = self.child(verb, "agent")
        return self.child(by, "pobj") if by is not None else None

    def is_passive(self, verb: int) -> bool:
        """Whether a verb has a passive auxiliary or subject."""
        return self.child(verb, "auxpass", "nsubjpass") is not None

    def particle(self, verb: int) -> int | None:
        """The particle of a verb ("picks up")."""
        return self.child(verb, "prt")

    def prepositions(self, place: int) -> list[tuple[int, int | None]]:
        """The prepositions that hang on a verb (or noun), each with its noun (None: it has none), in order."""
        return [(at, self.child(at, "pobj")) for at in self.children_with(place, "prep", "agent", "dative")]

    def auxiliaries(self, verb: int) -> list[int]:
        """The auxiliaries of a verb, in order."""
        return self.children_with(verb, *_AUXILIARY)

    def finite(self, verb: int) -> int | None:
        """The word that carries the tense of a verb: its first auxiliary, or itself; None for a bare participle."""
        places = [*self.auxiliaries(verb), verb]
        return places[0] if self.words[places[0]].tag in _FINITE else None

    def is_negated(self, verb: int) -> bool:
        """Whether a "not" or "never" hangs on a verb."""
        return self.child(verb, "neg") is not None

    def is_imperative(self, verb: int) -> bool:
        """Whether a verb tells somebody to do something: "add the onions", "heat oil and fry the garlic"."""
        word = self.words[verb]
        bare = word.tag in ("VB", "VBP") or (word.tag in ("VBD", "VBN") and word.text == word.lemma)  # "cut the onion"
        if not bare or self.child(verb, *_SUBJECT) is not None or not self.is_verb_form(verb, "VB"):
            return False
        if any(self.words[n].text != "do" for n in self.auxiliaries(verb)):
            return False
        if word.head == verb:
            return all(self.words[n].dep in _BEFORE_IMPERATIVES for n in self.children[verb] if n < verb)
        return word.dep in ("conj", "dep", "parataxis") and word.head < verb and self.is_imperative(word.head)

    @cached_property
    def imperatives(self) -> tuple[int, ...]:
        """The places of the imperatives."""
        return tuple(verb for verb in self.verbs if self.is_imperative(verb))

    def imperative_start(self, verb: int) -> int:
        """The place of the first word of an imperative: an adverb of manner right before it belongs to it."""
        before = self.words[verb - 1].text if verb else ""
        return verb - 1 if before.endswith("ly") or before == "deep" else verb

    @cached_property
    def hides_imperative(self) -> bool:
        """Whether there may be one more imperative that is not read as such: "heat oil in a pan toss and stir"."""
        words = self.words
        if words[0].is_noun:
            return True
        for verb in self.imperatives:
            other_verbs = self.children_with(verb, "conj", "dep", "parataxis", "ccomp", "xcomp")
            particle = self.particle(verb)
            if any(n not in self.imperatives for n in other_verbs):
                return True
            fried = words[verb].text == "stir" and words[min(verb + 1, len(words) - 1)].text == "fry"
            if fried or (particle is not None and words[particle].tag not in ("RP", "RB", "IN")):
                return True
        bare = [n for n in self.verbs if words[n].tag in ("VB", "VBP") and n not in self.imperatives]
        doubtful = any(self.child(n, "aux", *_SUBJECT) is None for n in bare)
        doubtful |= any(w.is_noun and w.dep != "compound" and has_class(w.text, "rarely_noun") for w in words)
        return doubtful or any(self.hides_verb(n, "VB") for n in range(1, len(words)))

    def hides_verb(self, place: int, tag: str) -> bool:
        """Whether a word that is read as no verb stands where verbs do: before "it", behind "and" before "in" ..."""
        if self.words[place].is_verb or place + 1 >= len(self.words) or tag not in verb_tags(self.words[place].text):
            return False
        at_start = place == 0 or self.words[place - 1].text in ("and", "then", ",")
        after = self.words[place + 1].tag
        return after in ("DT", "PRP", "PRP$") or (at_start and after == "IN" and self.words[place + 1].text != "of")

    def is_verb_form(self, place: int, tag: str = "") -> bool:
        """Whether a dictionary has a word in the verb form of its tag, or of another; modals and clitics count."""
        word = self.words[place]
        return word.tag == "MD" or has_class(word.lemma, "auxiliary") or (tag or word.tag) in verb_tags(word.text)

    def may_be_verb(self, place: int) -> bool:
        """Whether a plural may be the verb of a caption that has no other: "the lady in the hat waves"."""
        word = self.words[place]
        return not self.verbs and word.tag == "NNS" and "VBZ" in verb_tags(word.text)

    def head_noun(self, place: int) -> int:
        """The noun that a phrase is about, words of amount looked through: "a piece of paper" -> paper."""
        if has_class(self.words[place].lemma, "quantity"):
            of = next((n for n in self.children[place] if self.words[n].text == "of"), None)
            inner = self.child(of, "pobj") if of is not None else None
            if inner is not None and self.words[inner].is_noun:
                return inner
        return place

    def compound(self, place: int) -> str:
        """The lemma of the noun that stands right before a noun and belongs to it ("video" of "video game"), or ""."""
        before = [n for n in self.children_with(place, "compound") if n == place - 1]
        return self.words[before[0]].lemma if before else ""

    def noun_key(self, place: int) -> str:
        """A noun phrase in dictionary form, with its compound: "video game"; "" for pronouns and numbers."""
        at = self.head_noun(place)
        if not self.words[at].is_noun:
            return ""
        return f"{self.compound(at)} {self.words[at].lemma}".strip()

    def joined(self, place: int) -> list[int]:
        """The words that are joined to a word by "and", "or" or commas, also those joined to these."""
        conjuncts, pending = [], [place]
        while pending:
            for n in self.children_with(pending.pop(), "conj"):
                conjuncts.append(n)
                pending.append(n)
        return sorted(conjuncts)

    def is_plural(self, place: int) -> bool:
        """Whether a noun phrase takes a plural verb: a plural, "they", "a group of men", or two joined by "and"."""
        word = self.words[place]
        if word.text in ("they", "we", "you", "i", "these", "those") or has_class(word.text, "plural"):
            return True
        determiners = [self.words[n].text for n in self.children_with(place, "det", "nummod")]
        countless = has_class(word.text, "uncountable") or any(text in _SINGULAR for text in determiners)
        form = inflect(word.lemma, "NNS") == word.text and (word.text != word.lemma or word.tag == "NNS")
        many = word.is_noun and form and not countless
        inner = self.head_noun(place)
        amount = inner != place and has_class(word.lemma, "crowd") and self.words[inner].tag in ("NNS", "NNPS")
        parts = [place, *self.children_with(place, "compound", "nmod")]  # "pepper and garlic powder"
        has_conjunct = any(self.children_with(n, "conj", "cc") for n in parts)
        either = any(self.words[n].text in ("or", "nor") for n in self.children_with(place, "cc"))
        return many or amount or (has_conjunct and not either)

    def is_person(self, place: int) -> bool:
        """Whether a word names one or more persons, or what acts like some: "men", "a group of girls", "he", "robot".

        "He cooks" names one, "cooks" does not; nor does "record player".
        """
        word, name = self.words[self.head_noun(place)], self.noun_key(place)
        names = () if word.is_verb or has_class(name, "no_person") else (name, word.lemma, word.text)
        return any(has_class(name, "person") for name in names)

    @cached_property
    def texts(self) -> list[str]:
        """The words without full stops and commas."""
        return [word.text for word in self.words if word.text not in (".", ",")]

    def noun_phrases(self) -> list[int]:
        """The heads of the noun phrases, in order: nouns that are no compound of another."""
        return [n for n, word in enumerate(self.words) if word.is_noun and word.dep not in ("compound", "nmod")]
