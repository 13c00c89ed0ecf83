"""The contrasts that a kind proposes of a caption, and the edits that all kinds share."""

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.lexicon import Lexicon, Thing
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import article, inflect, like_case, replaced, replaced_spans, within
from video_contrast.perturbations.english.lexicon import has_class

Span = tuple[int, int]  # first word, and behind the last
Change = tuple[int, int, str]  # first word, behind the last, what stands there instead
_BEFORE_NOUN = ("det", "amod", "compound", "nummod", "poss", "nmod", "predet", "quantmod", "advmod")


def replace_words(sentence: Sentence, first: int, last: int, new: str, *, unit: str, other: str) -> Contrast:
    """The words `first` to `last` (behind the last) replaced; "a" or "an" before them fits the new ones.

    `unit, other`: what the caption says, and what the contrast says instead, in dictionary form.
    """
    start, end = sentence.words[first].start, sentence.words[last - 1].end
    text, start, old, new_words = replaced(sentence.caption, start, end, new)
    return Contrast(text, start, old, new_words, unit, other)


def change(sentence: Sentence, changes: list[Change], *, unit: str, other: str) -> Contrast:
    """Several spans replaced, in any order; the contrast's `old` and `new` run from the first to the last of them.

    "a" or "an" before a span fits what stands there afterwards. `changes`: spans that do not overlap.
    """
    words, caption = sentence.words, sentence.caption
    places = {place for first, last, _ in changes for place in range(first, last)}
    changes = sorted(
        (first - 1, last, f"{article(new)} {new}")
        if first and words[first - 1].text in ("a", "an") and first - 1 not in places
        else (first, last, new)
        for first, last, new in changes
    )
    spans = [(words[first].start, words[last - 1].end, new) for first, last, new in changes]
    start, end = spans[0][0], spans[-1][1]
    new_words = replaced_spans(caption[:end], spans)[start:]
    new = like_case(new_words, caption[start:end])
    return Contrast(caption[:start] + new + caption[end:], start, caption[start:end], new, unit, other)


def exchange(sentence: Sentence, first: Span, second: Span, *, unit: str, other: str) -> Contrast | None:
    """Two spans that change places; None where that changes nothing."""
    (a, b), (c, d) = sorted((first, second))
    one = within(sentence.text(a, b), sentence.words[a].tag) if sentence.words[a].start == 0 else sentence.text(a, b)
    right = sentence.text(c, d)
    if b > c or one.lower() == right.lower():
        return None
    return change(sentence, [(a, b, right), (c, d, one)], unit=unit, other=other)


def core(sentence: Sentence, noun: int) -> Span | None:
    """A noun with what stands before it, and with "of ..." behind a word of amount; None where "and" joins it."""
    if sentence.child(noun, "conj", "cc", "preconj") is not None or sentence.words[noun].dep == "conj":
        return None
    before = [place for child in sentence.children_with(noun, *_BEFORE_NOUN) for place in sentence.subtree(child)]
    first = min([place for place in before if place < noun], default=noun)
    if any(sentence.words[place].dep in ("prep", "acl", "relcl", "punct") for place in range(first, noun)):
        return None
    return first, sentence.head_noun(noun) + 1


def alike(sentence: Sentence, first: Span, second: Span) -> bool:
    """Whether both of two spans begin with an article, a number or the like, or neither ("man and a woman")."""
    has_determiner = [sentence.words[span[0]].tag in ("DT", "CD", "PDT") for span in (first, second)]
    return has_determiner[0] == has_determiner[1]


def has_pronoun(sentence: Sentence, first: int = 0, last: int | None = None) -> bool:
    """Whether a pronoun of the third person stands among the words `first` to `last` (default: anywhere)."""
    return any(has_class(word.text, "third_person") for word in sentence.words[first:last])


def agreement(sentence: Sentence, subject: int, *, plural: bool) -> list[Change] | None:
    """The changes that make the verbs of a subject plural or singular; None where the parse does not tell how.

    Args:
        sentence, subject: the caption, and the place of the subject's noun.
        plural: the number that the verbs take.
    """
    changes: list[Change] = []
    for verb in sentence.verbs:
        own = sentence.child(verb, "nsubj", "nsubjpass")
        if sentence.subject(verb) != subject or (own is None and sentence.words[verb].dep not in ("conj", "relcl")):
            continue
        finite = sentence.finite(verb)
        if finite is None or sentence.words[finite].tag == "MD":
            continue
        word = sentence.words[finite]
        if word.tag == "VBD":
            changes += [(finite, finite + 1, "were" if plural else "was")] if word.lemma == "be" else []
        elif inflect(word.lemma, word.tag) != word.text:
            return None
        else:
            changes.append((finite, finite + 1, inflect(word.lemma, "VBP" if plural else "VBZ")))
    return changes


def thing(sentence: Sentence, noun: int, lexicon: Lexicon) -> Thing | None:
    """The commonest meaning of a noun in the lexicon, by its name with the compound, else by its head; else None."""
    if not sentence.words[noun].is_noun:
        return None
    head = sentence.words[sentence.head_noun(noun)]
    names = (sentence.noun_key(noun), head.lemma, head.text)  # "shorts" has no singular there
    return next((meanings[0] for name in names if (meanings := lexicon.things(name))), None)


def living(sentence: Sentence, noun: int, lexicon: Lexicon) -> str:
    """The word "people" or "animal" for a noun that names some; "" for others."""
    if sentence.words[noun].is_noun and sentence.is_person(noun):
        return "people"
    meaning = thing(sentence, noun, lexicon)
    return "animal" if meaning is not None and lexicon.is_a(meaning.category, "animal") else ""


def is_amount(sentence: Sentence, noun: int) -> bool:
    """Whether a noun counts others: "a piece of", "a group of"."""
    return has_class(sentence.words[noun].lemma, "quantity") and any(
        sentence.words[child].text == "of" for child in sentence.children[noun]
    )
