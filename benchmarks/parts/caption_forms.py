"""Trees of captions told anew: where the parse of "a man is slicing an onion" is sure, so are those of "a man slices an
onion", "man slicing onion", "slice an onion" and "i sliced an onion, then washed the knife"."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from nltk.corpus import wordnet

from parts.caption_trees import Tree, inflected, lemma, under_its_noun

PRONOUNS = {"VBZ": ("he", "she", "it"), "VBP": ("i", "we", "you", "they"), "VBD": ("i", "we", "he", "she", "they")}
NUMBERS = {"is": "VBZ", "are": "VBP"}
ARTICLES = ("a", "an", "the")
POSSESSIVES = ("my", "our", "his", "her", "their", "your")
SHARES = {"captions": 0.3, "steps": 0.13, "examples": 0.2, "rewritten": 0.22, "series": 0.15}
FORMS = ("VBZ", "VBZ", "VBZ", "VBD", "VBG", "VBG", "VB")
BETWEEN = {
    "and": [("and", "CC", "cc")],
    ",": [(",", ",", "punct")],
    ", and": [(",", ",", "punct"), ("and", "CC", "cc")],
    "and then": [("and", "CC", "cc"), ("then", "RB", "advmod")],
    ", then": [(",", ",", "punct"), ("then", "RB", "advmod")],
    "while": [("while", "IN", "mark")],
    "as": [("as", "IN", "mark")],
}


def draw(trees: dict[str, list[Tree]], shares: dict[str, float], rng: random.Random) -> Tree:
    """Returns a tree of one of the kinds of `shares`, with or without a capital and a full stop, now and then two."""
    kind = rng.choices(list(shares), list(shares.values()))[0]
    if kind == "clauses":
        tree = (with_clause if rng.random() < 0.7 else with_infinitive)(trees["captions"], rng)
    elif kind in ("rewritten", "series"):
        tree = in_other_forms(trees["captions"], kind == "series", rng)
    else:
        tree = rng.choice(trees[kind])
        if kind == "steps" and rng.random() < 0.7:
            tree = listed(tree, rng.choices(trees["things"], k=rng.choice((1, 2, 3))))
    tree = dressed(tree, rng.random())
    return joined(tree, draw(trees, shares, rng), (), "ROOT") if tree.words[-1] == "." and rng.random() < 0.08 else tree


def in_other_forms(captions: Sequence[Tree], series: bool, rng: random.Random) -> Tree:
    """Returns a caption in another form, in a `series` with one or two more behind it: ", then opens the gate"."""

    def other(form: str, subject: bool, longest: int) -> Tree:
        tree = None
        while tree is None or len(tree.words) > longest or tree.root() < 0:
            tree = rewritten(rng.choice(captions), form, subject, rng)
        return tree

    form = rng.choice(FORMS)
    tree = other(form, form != "VB", 40)
    if form != "VBG":
        form = next(tag for tag in tree.tags[tree.root() :] if tag[0] == "V")
    for _ in range(rng.choice((1, 1, 2)) if series else 0):
        subject = form != "VB" and rng.random() < 0.4
        way = rng.choice(list(BETWEEN) if subject else [name for name in BETWEEN if name not in ("while", "as")])
        more = other("VBZ" if subject and form == "VBG" else form, subject, 8)
        tree = joined(tree, more, BETWEEN[way], "advcl" if way in ("while", "as") else "conj")
    return tree


def dressed(tree: Tree, style: float) -> Tree:
    """Returns the tree in lower case without full stop (half of all), or with a capital, a full stop or both."""
    words = list(tree.words)
    if style > 0.6:
        words = ["I" if word == "i" else word for word in (words[0][:1].upper() + words[0][1:], *words[1:])]
    if not 0.5 < style < 0.9 or words[-1] in (".", "!", "?") or tree.root() < 0:
        return replace(tree, words=words)
    return Tree([*words, "."], [*tree.tags, "."], [*tree.heads, tree.root()], [*tree.deps, "punct"])


@cache
def vocabulary(kind: str) -> list[str]:
    """Returns the single words of one part of speech that occur in the texts that WordNet was counted on."""
    lemmas = {lemma.name() for synset in wordnet.all_synsets(kind) for lemma in synset.lemmas() if lemma.count()}
    return sorted(word for word in lemmas if word.isalpha() and word.islower() and len(word) > 2)


def rewritten(tree: Tree, form: str, subject: bool, rng: random.Random) -> Tree | None:
    """Returns "a man is slicing an onion" with its verbs in another form, some other words, and without its subject if
    that is asked for; None if the caption is not of that shape.

    `form`: the tag of the verbs. VBG: "man slicing onion", the noun with its clause.
    """
    found = clause(tree)
    if found is None:
        return None
    noun, auxiliary = found
    told = with_other_verbs(tree, NUMBERS[tree.words[auxiliary]] if form == "VBZ" and subject else form, rng)
    told_of = told and with_other_subject(with_other_nouns(told, rng), noun, form if subject else "", rng)
    if not told_of:
        return None
    told, left_out = told_of
    places = [i for i in range(len(told.words)) if i not in (auxiliary, *left_out)]
    if rng.random() < (0.5 if form == "VBG" else 0.15):  # the style of headlines
        places = [i for i in places if told.words[i] not in ARTICLES or (i > noun and rng.random() < 0.5)]
    return told.keep(places)


def clause(tree: Tree) -> tuple[int, int] | None:
    """Returns the places of subject and auxiliary of "a man is slicing ...", whose phrases open the caption."""
    subjects, auxiliaries = tree.children(tree.root(), "nsubj"), tree.children(tree.root(), "aux")
    if tree.tags[tree.root()] != "VBG" or len(subjects) != 1 or len(auxiliaries) != 1:
        return None
    noun, auxiliary, phrase = subjects[0], auxiliaries[0], tree.subtree(subjects[0])
    opens = phrase == set(range(len(phrase))) and noun < auxiliary and tree.tags[noun][0] in "NP"
    return (noun, auxiliary) if opens and tree.words[auxiliary] in NUMBERS else None


def with_other_verbs(tree: Tree, form: str, rng: random.Random) -> Tree | None:
    """Returns the tree with its main verbs in a form, half of the simple ones replaced; None if one lacks it."""
    for i in tree.chain(tree.root()):
        simple = not tree.children(i, "prt", "xcomp", "ccomp", "acomp", "attr", "dative")
        stem = rng.choice(vocabulary("v")) if simple and rng.random() < 0.5 else lemma(tree.words[i])
        word = inflected(stem, form) or inflected(lemma(tree.words[i]), form)
        if word is None:
            return None
        tree = replace_word(tree, i, word, form, tree.deps[i])
    return tree


def with_other_subject(tree: Tree, noun: int, form: str, rng: random.Random) -> tuple[Tree, set[int]] | None:
    """Returns the tree with a subject that goes with a form ("": with none), and which places fall out."""
    phrase = tree.subtree(noun)
    if not form:
        return tree, phrase
    if form == "VBG":
        own = any(tree.children(i, "nsubj") for i in tree.children(tree.root(), "conj"))
        no_clause = own or tree.children(noun, "conj") or tree.tags[noun] == "PRP"
        return None if no_clause else (under_its_noun(tree, noun), set())
    if rng.random() < 0.1:
        word = rng.choice(PRONOUNS[tree.tags[tree.root()]])
        return replace_word(tree, noun, word, "PRP", tree.deps[noun]), phrase - {noun}
    if rng.random() < 0.15 and tree.children(noun, "det"):
        return replace_word(tree, tree.children(noun, "det")[0], rng.choice(POSSESSIVES), "PRP$", "poss"), set()
    return tree, set()


def with_other_nouns(tree: Tree, rng: random.Random) -> Tree:
    """Returns the tree with three in ten of its simple nouns replaced."""
    for i, tag in enumerate(tree.tags):
        simple = tree.deps[i] in ("nsubj", "dobj", "pobj") and not tree.children(i, "prep", "acl", "relcl")
        if tag in ("NN", "NNS") and simple and rng.random() < 0.3:
            word = inflected(rng.choice(vocabulary("n")), tag) or tree.words[i]
            tree = replace_word(tree, i, word, tag, tree.deps[i])
    return tree


def replace_word(tree: Tree, place: int, word: str, tag: str, dep: str) -> Tree:
    """Returns the tree with another word at a place."""
    words, tags, deps = ([*cells] for cells in (tree.words, tree.tags, tree.deps))
    words[place], tags[place], deps[place] = word, tag, dep
    return Tree(words, tags, tree.heads, deps)


def phrases(trees: Sequence[Tree]) -> list[Tree]:
    """Returns the objects of steps that are a noun with what stands before it: "chopped onions"."""
    before = {"det", "amod", "compound", "nummod"}
    return [
        tree.keep(sorted(tree.subtree(i)))
        for tree in trees
        for i in tree.children(0, "dobj")
        if {tree.deps[j] for j in tree.subtree(i)} <= {"dobj", *before}
        and max(tree.subtree(i)) == i
        and tree.tags[i][:2] == "NN"
        and tree.words[min(tree.subtree(i))] != "the"
    ]


def listed(tree: Tree, more: Sequence[Tree]) -> Tree:
    """Returns "add salt and flour" with more things in the list, as steps name them: without commas."""
    first = next((i for i in tree.children(0, "dobj") if tree.children(i, "cc") and tree.children(i, "conj")), None)
    if first is None or tree.tags[tree.children(first, "conj")[0]][0] != "N":
        return tree
    at, last = tree.children(first, "cc")[0], first
    moved = [at, tree.children(first, "conj")[0]]
    for phrase in more:
        tree = put_in(tree, at, phrase, last, "conj")
        last, at = at + phrase.root(), at + len(phrase.words)
        moved = [place + len(phrase.words) for place in moved]
    return replace(tree, heads=[last if i in moved else head for i, head in enumerate(tree.heads)])


def put_in(tree: Tree, at: int, part: Tree, head: int, dep: str) -> Tree:
    """Returns a tree with another before the word `at`; its root hangs on the word `head` with the label `dep`."""
    size, top = len(part.words), part.root()

    def moved(place: int) -> int:
        return place + size if place >= at else place

    inner = [moved(head) if i == top else place + at for i, place in enumerate(part.heads)]
    outer = [moved(place) for place in tree.heads]
    deps = [dep if i == top else label for i, label in enumerate(part.deps)]
    return Tree(
        [*tree.words[:at], *part.words, *tree.words[at:]],
        [*tree.tags[:at], *part.tags, *tree.tags[at:]],
        [*outer[:at], *inner, *outer[at:]],
        [*tree.deps[:at], *deps, *tree.deps[at:]],
    )


def with_clause(captions: Sequence[Tree], rng: random.Random) -> Tree:
    """Returns a caption whose subject has a clause: "a man wearing a hat talks", "a girl who wears a hat smiles"."""
    while True:
        tree = rewritten(rng.choice(captions), rng.choice(("VBZ", "VBZ", "VBZ", "VBD")), True, rng)
        nouns = tree.children(tree.root(), "nsubj") if tree else []
        if not tree or not nouns or tree.tags[nouns[0]][:2] != "NN" or max(tree.subtree(nouns[0])) != nouns[0]:
            continue
        relative = rng.random() < 0.3
        clause = rewritten(rng.choice(captions), tree.tags[tree.root()] if relative else "VBG", False, rng)
        if clause is None or len(clause.words) > 6 or clause.root() < 0:
            continue
        if relative:
            pronoun = Tree([rng.choice(("who", "that"))], ["WP"], [0], ["ROOT"])
            pronoun = replace(pronoun, tags=["WDT"]) if pronoun.words[0] == "that" else pronoun
            clause = put_in(clause, 0, pronoun, clause.root(), "nsubj")
        return put_in(tree, nouns[0] + 1, clause, nouns[0], "relcl" if relative else "acl")


def with_infinitive(captions: Sequence[Tree], rng: random.Random) -> Tree:
    """Returns "a man lets her drive a car" for a caption of somebody who is driving a car."""
    clause = None
    while clause is None or len(clause.words) > 6 or clause.root() < 0:
        clause = rewritten(rng.choice(captions), "VB", False, rng)
    form = rng.choice(("VBZ", "VBZ", "VBD"))
    verb = inflected(rng.choice(("let", "make", "help", "watch", "see", "hear")), form) or "lets"
    person = Tree([rng.choice(("her", "her", "him", "them", "me", "us", "you"))], ["PRP"], [0], ["ROOT"])
    nouns = (rng.choice(("a", "the", "my", "his")), rng.choice(("man", "woman", "teacher", "boy", "girl", "coach")))
    article = ("PRP$", "poss") if nouns[0] in POSSESSIVES else ("DT", "det")
    main = Tree([*nouns, verb], [article[0], "NN", form], [1, 2, 2], [article[1], "nsubj", "ROOT"])
    return put_in(main, 3, put_in(clause, 0, person, clause.root(), "nsubj"), 2, "ccomp")


def joined(first: Tree, second: Tree, between: Sequence[tuple[str, str, str]], dep: str) -> Tree:
    """Returns two trees as one sentence, or side by side if `dep` is "ROOT".

    Args:
        first, second: the trees; the verb of the second hangs on that of the first with the label `dep`.
        between: words between them with tag and label; "cc" and "punct" hang on the first verb, others on the second.
        dep: "conj", "advcl" or "ROOT".
    """
    n = len(first.words)
    shift = n + len(between)
    tops = [(tree, tree.root()) for tree in (first, second)]
    verbs = [top if tree.tags[top][0] == "V" else next(iter(tree.children(top, "acl")), top) for tree, top in tops]
    heads = [verbs[0] if label in ("cc", "punct") else verbs[1] + shift for _, _, label in between]
    heads = [*first.heads, *heads, *(head + shift for head in second.heads)]
    deps = [*first.deps, *(label for _, _, label in between), *second.deps]
    if dep != "ROOT":
        top = second.root() + shift
        heads[top], deps[top] = verbs[0], dep
    words = [*first.words, *(word for word, _, _ in between), *second.words]
    return Tree(words, [*first.tags, *(tag for _, tag, _ in between), *second.tags], heads, deps)
