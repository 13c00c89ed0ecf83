"""Who does what a verb says: the subject in front of it, or the noun that a participle describes ("a man playing").

Behind a first verb of the same subject the doer is named already: "walks in and opens a door" is taken up by a pronoun
("by him"), "sits on a bed playing a guitar" and "is standing up and playing a guitar" by what else the doer does.
"""

from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.contrast.generators.frames.words import Word
from video_contrast.perturbations.english.forms import within
from video_contrast.perturbations.language import inflect, verb_tags
from video_contrast.perturbations.text.passive import lists
from video_contrast.perturbations.text.passive.number import is_plural
from video_contrast.perturbations.text.passive.sentence import NounPhrase, Refused, Sentence, Why, refuse

AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_NO_SUBJECT = frozenset("who that which what there whom whose this these those here it its you".split())  # noqa: SIM905
_NO_FIRST = frozenset("start begin try keep go get have continue stop like enjoy come help use be".split())  # noqa: SIM905
_TELLS = frozenset("be s say tell think know claim state believe mean hope reveal suggest announce".split())  # noqa: SIM905
_BE = ("is", "are", "was", "were")


class Doer(NamedTuple):
    """The subject of a verb: its words, the agent as it stands behind "by", and the verb whose tense and "be" count.

    `start`: where the clause that changes begins.
    """

    phrase: NounPhrase
    agent: str
    start: int
    finite: int


def doer_of(tree: Sentence, verb: int) -> Doer:
    """The doer of a verb.

    Raises:
        Refused: there is none that could be an agent.
    """
    word = tree.words[verb]
    if tree.child(verb, "nsubj") is not None:
        phrase = _subject(tree, verb)
    elif word.dep == "acl" and word.tag == "VBG" and word.head < verb and tree.words[word.head].tag in (*NOUNS, "CD"):
        phrase = _described(tree, verb)
    else:
        return _of_first_verb(tree, verb)
    return Doer(phrase, _agent(tree, phrase), phrase.start, verb)


def _subject(tree: Sentence, verb: int) -> NounPhrase:
    """The subject right in front of a verb's words."""
    word, head = tree.words[verb], tree.child(verb, "nsubj")
    assert head is not None
    start, end = tree.span(head)
    before = tree.words[start - 1] if start else None
    fronted = tree.words[0].tag in ("IN", "TO", "WRB")  # "in a kitchen | a man cooks"
    cut = word.dep == "relcl" and (before is None or before.tag not in ("WRB", "WDT"))
    if before is not None:
        cut = cut or (before.tag in NOUNS and not fronted) or before.dep == "prep" or before.text == "like"
        cut = cut or before.tag in ("DT", "JJ", "PRP$", "CD", "RP", "MD", "VBN")
        cut = cut or (before.dep == "cc" and not any(w.tag[:2] == "VB" for w in tree.words[:start]))
        cut = cut or (before.text == "as" and start > 1 and tree.words[start - 2].tag == "VBN")
    refuse(Why.NO_SUBJECT, end > verb or cut or word.dep not in ("ROOT", "conj", "advcl", "ccomp", "relcl", "pcomp"))
    refuse(Why.TWO_CLAUSES, word.dep in ("ccomp", "pcomp") and (verb < word.head or not _is_finite(tree, verb)))
    over = tree.words[word.head]
    if word.head == start - 1 and (word.tag == "VBD" != over.tag or over.lemma not in _TELLS | lists.REGARDING):
        raise Refused(Why.TWO_CLAUSES)  # "describes | two suvs called x", "washes | meat takes sauce"
    bare = (start == head or word.lemma == "show") and is_plural(tree, NounPhrase(start, end, head)) is False
    if bare and word.tag == "VBP" and tree.words[head].tag in NOUNS and tree.child(verb, "aux") is None:
        raise Refused(Why.NO_VERB)  # "chef show teaser"
    return _checked(tree, NounPhrase(start, end, head))


def _is_finite(tree: Sentence, verb: int) -> bool:
    return tree.words[verb].tag in ("VBZ", "VBD") or tree.child(verb, "aux") is not None


def _described(tree: Sentence, verb: int) -> NounPhrase:
    """The noun that a participle describes where no other clause has that noun; the whole of its phrase goes along."""
    head = noun = tree.words[verb].head
    while not tree.is_person(noun):  # not "shirt" in "a man in a shirt kicking", but the man
        over = tree.words[tree.words[noun].head].head
        if tree.words[over].dep == "acl" and tree.child(over, "dobj") is None:
            over = tree.words[over].head  # "a man sitting in a car explaining"
        if tree.words[noun].dep != "pobj" or tree.words[over].tag not in NOUNS:
            break
        noun = over
        if tree.is_person(noun) or tree.words[noun].lemma in lists.CROWDS:
            head = noun
    while tree.words[tree.words[head].head].text == "of" and tree.words[tree.words[head].head].dep == "prep":
        group = tree.words[tree.words[tree.words[head].head].head]
        if group.lemma not in lists.CROWDS:
            break
        head = tree.words[tree.words[head].head].head
    top = head
    while tree.words[top].dep == "conj" and tree.words[tree.words[top].head].tag in NOUNS:
        over = tree.words[top].head
        if tree.child(over, "acl", "relcl") is not None or tree.words[over].lemma in lists.HOLDING:
            break
        refuse(Why.NO_SUBJECT, tree.is_person(top) != tree.is_person(over))  # "a dog and a girl | watching it"
        top = tree.words[top].head
    refuse(Why.NO_SUBJECT, not _is_free(tree, top))
    start, end = tree.span(top)[0], tree.span(verb)[0]
    refuse(Why.NO_SUBJECT, tree.span(verb)[1] != tree.span(top)[1])
    drawn = tree.words[top].lemma in ("animation", "cartoon", "drawing")
    if drawn and any(top < n < verb for n in tree.children[top]):
        raise Refused(Why.NO_SUBJECT)  # "an animation of a monster | looking at a cave"
    while end < verb and not tree.words[end].text.endswith("ly") and tree.words[end].dep == "advmod":
        end += 1  # "a girl outdoors | jumping"
    return _checked(tree, NounPhrase(start, end, head))


def _is_free(tree: Sentence, noun: int) -> bool:
    """Whether a noun may be replaced by another: it is the caption's own or what a video shows."""
    word = tree.words[noun]
    over = tree.words[word.head]
    if word.dep == "ROOT" or word.head == noun:
        return True
    if word.dep == "conj":
        return _is_free(tree, word.head)
    if word.dep == "attr":
        return tree.child(word.head, "expl") is not None
    if word.dep == "pobj":
        shows = tree.words[over.head]
        shown = over.text in ("of", "with", "about") and shows.lemma in lists.HOLDING | {"cartoon", "animation"}
        return shows.tag in NOUNS and (shown or (over.text == "with" and tree.is_person(noun)))
    return word.dep == "dobj" and over.lemma in ("show", "feature", "depict", "display", "film")


def _checked(tree: Sentence, phrase: NounPhrase) -> NounPhrase:
    head = tree.words[phrase.head]
    inside = tree.words[phrase.start : phrase.end]
    known = head.tag in (*NOUNS, "PRP", "DT", "CD") and head.text not in _NO_SUBJECT
    refuse(Why.NO_SUBJECT, not known or (head.tag in ("NN", "NNS") and head.lemma in lists.CLOTHES))
    then = {"then", "displaying"} & {word.text for word in inside}
    refuse(Why.NO_SUBJECT, inside[0].tag in ("IN", "WRB") or inside[-1].tag in ("CC", ",") or then)
    person = tree.is_person(phrase.head)
    named = any(word.dep == "compound" and word.text in lists.PERSONS - {"cartoon"} for word in inside)
    sings = is_plural(tree, phrase) is None and head.text.endswith("s") and "VBZ" in verb_tags(head.text)
    if (named and not person and "VB" in verb_tags(head.lemma)) or sings:
        raise Refused(Why.NO_SUBJECT)  # "a man steam | cleans a floor", "a man sings | playing guitar"
    joined = [n for n in tree.children[phrase.head] if tree.words[n].dep == "conj"]
    if person:
        joined = [n for n in joined if tree.words[n].lemma not in lists.CLOTHES]  # "a man in a hat and coat"
    refuse(Why.NO_SUBJECT, inside[0].tag == "PRP$" and "DT" in (word.tag for word in inside))  # "its a girl | showing"
    cc = any(word.dep == "cc" for word in inside) and tree.words[phrase.end - 1].lemma not in lists.CLOTHES
    if (joined or (cc and tree.words[phrase.end - 1].tag in NOUNS)) and any(word.dep == "acl" for word in inside):
        raise Refused(Why.NO_SUBJECT)  # "a bear growling and bugs | making noises"
    acts = [(n, w) for n, w in enumerate(inside, phrase.start) if w.tag == "VBG" and w.dep == "acl"]
    if inside[-1].tag == "VBG" and inside[-1].dep == "acl" and inside[-1].lemma not in lists.ALONE:
        raise Refused(Why.NO_SUBJECT)  # "a woman wearing | heals stomps"
    if any(n < phrase.head or not person or w.lemma in lists.REGARDING - {"look", "speak", "talk"} for n, w in acts):
        raise Refused(Why.NO_SUBJECT)  # "a video with onions sizzling in a pan | mixing": who?
    if any(word.dep in ("dep", "appos", "npadvmod") and word.tag[:2] in ("NN", "VB") for word in inside):
        raise Refused(Why.TWO_CLAUSES)
    return phrase


def _agent(tree: Sentence, phrase: NounPhrase) -> str:
    text = tree.text(phrase.start, phrase.end)
    if tree.words[phrase.head].tag == "PRP":
        refuse(Why.NO_SUBJECT, text.lower() not in AFTER)
        return AFTER[text.lower()]
    return within(text, tree.words[phrase.start].tag)


def _of_first_verb(tree: Sentence, verb: int) -> Doer:
    """The doer of a second verb, from the verb that it hangs on."""
    word, first = tree.words[verb], tree.words[verb].head
    if tree.words[first].tag[:2] != "VB" or word.dep not in ("conj", "advcl", "xcomp") or first >= verb:
        raise Refused(Why.NO_SUBJECT)
    doer = doer_of(tree, first)
    own = tree.child(verb, "mark", "expl", "nsubjpass", "aux" if word.dep != "conj" else "mark")
    refuse(Why.NO_SUBJECT, doer.finite != first or (own is not None and tree.words[own].text != "while"))
    joint = tree.span(verb)[0]
    if word.dep == "conj":
        joint -= 1
        if tree.words[joint].text not in ("and", "then") or tree.child(first, "cc") not in (joint, joint - 1):
            raise Refused(Why.SECOND_VERB)
        alike = alike_verbs(tree.words[first], word)
        refuse(Why.SECOND_VERB, tree.words[joint - 1].tag in ("IN", "TO"))  # "talk about and eat hot dogs"
        bare = joint == first + 1 or (joint == first + 2 and tree.words[first + 1].dep == "prt")
        if bare and tree.words[first].lemma not in lists.ALONE:
            raise Refused(Why.SECOND_VERB)  # "mixes and pours a liquid": both have the object
        if alike and word.tag != "VBG" and tree.child(first, "aux") is None:
            who = pronoun(tree, doer.phrase)
            return doer._replace(agent=AFTER.get(who, who), start=tree.span(verb)[0], finite=verb)
        if word.tag != "VBG" or (tree.words[first].tag != "VBG" and tree.words[first].lemma != "be"):
            raise Refused(Why.SECOND_VERB)
        refuse(Why.SECOND_VERB, tree.child(first, "dobj") is not None)
    elif word.tag != "VBG" or tree.child(first, "dobj") is not None or tree.words[first].lemma in ("look", "watch"):
        raise Refused(Why.SECOND_VERB)
    refuse(Why.SECOND_VERB, tree.words[doer.phrase.head].tag == "PRP")  # "by her blonde"
    return doer._replace(agent=f"{doer.agent} {_doing(tree, doer, rest=(first, joint))}")


def alike_verbs(first: Word, second: Word) -> bool:
    """Whether two verbs that "and" joins stand in the same form."""
    tags = {first.tag, second.tag}
    return len(tags) == 1 or tags == {"VB", "VBP"}


def _doing(tree: Sentence, doer: Doer, *, rest: tuple[int, int]) -> str:
    """What the doer does besides: "sitting on a bed", "who is singing"."""
    first, end = rest
    if any(word.dep in ("punct", "ccomp") or word.dep == "conj" for word in tree.words[first + 1 : end]):
        raise Refused(Why.SECOND_VERB)
    head = tree.words[first]
    if head.lemma == "be":
        return tree.text(first + 1, end)
    bare = head.tag == "VBD" and tree.words[doer.finite].tag == "VBG"  # "people gathered around a table making it"
    refuse(Why.SECOND_VERB, head.lemma in _NO_FIRST or head.tag not in ("VBG", "VBZ", "VBP", "VBD") or bare)
    ing = inflect(head.lemma, "VBG")
    if end > first + 1:
        return f"{ing} {tree.text(first + 1, end)}"
    refuse(Why.SECOND_VERB, head.lemma not in lists.ALONE)  # "mixing and pouring a liquid"
    people = tree.is_person(doer.phrase.head)
    past = any(tree.words[n].tag == "VBD" for n in (first, *tree.children[first]) if n <= first)
    many = is_plural(tree, doer.phrase)
    if many is None:
        raise Refused(Why.NUMBER)
    return f"{'who' if people else 'that'} {_BE[2 * past + bool(many)]} {ing}"


def pronoun(tree: Sentence, phrase: NounPhrase) -> str:
    """The pronoun that takes up a subject: "he", "she", "they", "it".

    Raises:
        Refused: it is not known whether the person is male or female.
    """
    head = tree.words[phrase.head]
    if head.tag == "PRP":
        return head.text
    many = is_plural(tree, phrase)
    if many or head.text in ("person", "someone", "somebody") or head.lemma in lists.CROWDS:
        return "they"
    if head.lemma in lists.MALE | lists.FEMALE and many is not None:
        return "he" if head.lemma in lists.MALE else "she"
    if many is None or head.tag == "NNP" or may_be_person(head):
        raise Refused(Why.SECOND_VERB)
    return "it"


def may_be_person(noun: Word) -> bool:
    """Whether a noun could name someone: "batter", "hikers", as "mixer" could."""
    return not {noun.text, noun.lemma}.isdisjoint(lists.PERSONS) or noun.lemma.endswith(
        ("er", "or", "ist", "ian", "man")
    )
