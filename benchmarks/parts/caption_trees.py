"""Dependency trees that a parser of captions learns: the teacher's reading of a form that it reads well, carried over
to the words that captions have."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import lemminflect
from spacy.tokens import Doc

from video_contrast.untyped import SpacyPipeline


@dataclass(frozen=True)
class Tree:
    """A dependency tree with Penn tags and spaCy's labels; the head of a root is the word itself."""

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    deps: Sequence[str]

    def children(self, head: int, *deps: str) -> list[int]:
        """The words that hang on a word, with one of the labels if any are named."""
        return [i for i, up in enumerate(self.heads) if up == head != i and (not deps or self.deps[i] in deps)]

    def root(self) -> int:
        """The place of the root; -1 if there are several."""
        roots = [i for i, up in enumerate(self.heads) if up == i]
        return roots[0] if len(roots) == 1 else -1

    def keep(self, places: Sequence[int]) -> "Tree":
        """The tree of the words at `places`; what hung on another word hangs on the next of them above it."""
        place = {old: new for new, old in enumerate(places)}
        heads = []
        for i in places:
            up = self.heads[i]
            while up not in place and self.heads[up] != up:
                up = self.heads[up]
            heads.append(place.get(up, place[i]))
        deps = ["ROOT" if heads[new] == new else self.deps[old] for new, old in enumerate(places)]
        return Tree([self.words[i] for i in places], [self.tags[i] for i in places], heads, deps)

    def subtree(self, top: int) -> set[int]:
        """The places of a word and of all below it."""
        return {top}.union(*(self.subtree(child) for child in self.children(top)))

    def chain(self, verb: int) -> list[int]:
        """A verb and those joined to it that have no subject or auxiliary of their own."""
        own = ("nsubj", "nsubjpass", "aux", "auxpass")
        joined = [i for i in self.children(verb, "conj") if not self.children(i, *own)]
        return [verb] + [j for i in joined for j in self.chain(i)]


def parse(nlp: SpacyPipeline, sentences: Sequence[Sequence[str]]) -> list[Tree]:
    """Returns the trees that a pipeline reads."""
    docs = nlp.pipe((Doc(nlp.vocab, words=list(words)) for words in sentences), batch_size=256)
    return [Tree(*zip(*((t.text, t.tag_, t.head.i, t.dep_) for t in doc), strict=True)) for doc in docs]


def mended(words: Sequence[str]) -> list[str]:
    """Returns the words with a capital and a full stop."""
    return [words[0][:1].upper() + words[0][1:], *words[1:], *(() if words[-1] in (".", "!", "?") else (".",))]


def taught(nlp: SpacyPipeline, captions: Sequence[list[str]]) -> list[Tree]:
    """Returns the teacher's trees of captions with a capital and a full stop. Left out are those with several roots,
    and those in which it finds no verb though a word may be one ("a man talks", read as a noun)."""
    trees = []
    for words, tree in zip(captions, parse(nlp, [mended(words) for words in captions]), strict=True):
        has_verb = any(tag[0] == "V" for tag in tree.tags)
        sure = has_verb or not any("VERB" in lemminflect.getAllLemmas(word) for word in words)
        if sure and 0 <= tree.root() < len(words):
            trees.append(replace(tree.keep(range(len(words))), words=words))
    return repaired(trees, ("into", "onto", "against"))


def taught_steps(nlp: SpacyPipeline, captions: Sequence[list[str]]) -> list[Tree]:
    """Returns the teacher's trees of captions that begin with their verb ("add the onions and stir", "playing the
    guitar"), read with words put in: "You add the onions and you stir", "He is playing the guitar"."""
    forms, places = longer_steps(captions)
    trees = []
    for words, own, tree in zip(captions, places, parse(nlp, forms), strict=True):
        if tree.root() == own[0] and tree.tags[own[0]] in ("VBP", "VBG"):
            part = replace(tree.keep(own), words=words)
            orders = {i for i in part.chain(0) if part.tags[i] in ("VBP", "VBD")}
            part = replace(part, tags=["VB" if i in orders else tag for i, tag in enumerate(part.tags)])
            labels = zip(part.tags, part.deps, strict=True)
            if not any(tag in ("VBZ", "VBD") and dep in ("ccomp", "compound") for tag, dep in labels):
                trees.append(part)  # else things of a list were read as verbs: "add onions carrots and celery"
    return repaired(trees, ("into", "onto", "against", "in", "on", "to", "over", "from", "through", "at"))


def longer_steps(captions: Sequence[list[str]]) -> tuple[list[list[str]], list[list[int]]]:
    """Returns captions that begin with their verb with subjects and articles put in, and the places of their own words
    there. A word is a verb if captions begin with it far more often than it follows an article."""
    begin, begin_two = Counter(words[0] for words in captions), Counter(tuple(words[:2]) for words in captions)
    after = Counter(b for words in captions for a, b in pairwise(words) if a in ("a", "the"))
    forms, places = [], []
    for words in captions:
        longer, own = [], []
        for i, word in enumerate(words):
            before = words[i - 1]
            opens = begin[word] > 3 * max(after[word], 1) or begin_two[tuple(words[i : i + 2])] > 1
            if i == 0:
                longer += ["He", "is"] if word.endswith("ing") else ["You"]
            elif before == "to" and after[word] > 3 * begin[word]:
                longer.append("the")  # "add to [the] bowl"
            elif before in ("and", "then", ",") and opens:
                longer.append("you")
            own.append(len(longer))
            longer.append(word)
        forms.append(mended(longer))
        places.append(own)
    return forms, places


def repaired(trees: Sequence[Tree], of_verbs: Sequence[str]) -> list[Tree]:
    """Returns the trees with what the teacher often misses: a verb joined to a noun or preposition ("sitting in a car
    and talking") is joined to the verb above; "man talking" is always a noun with its clause; a preposition behind an
    object hangs on the verb if that verb takes it more often than that noun does, or if it is one of `of_verbs`; "shows
    off a car" has a particle."""
    seen: Counter[object] = Counter()
    for tree in trees:
        for i, tag in enumerate(tree.tags[:-1]):
            kind = "verb" if tag[0] == "V" else "noun" if tree.deps[i] == "nsubj" else None
            if kind:
                key = lemma(tree.words[i]) if kind == "verb" else tree.words[i]
                follows = tree.deps[i + 1] if tree.heads[i + 1] == i else ""
                seen.update([(kind, key), (kind, key, tree.words[i + 1], follows)])
    return [noun_with_clause(attached(joined_verbs(tree), seen, of_verbs)) for tree in trees]


def joined_verbs(tree: Tree) -> Tree:
    """Returns the tree with joined verbs under verbs, in the form of these."""
    tags, heads = list(tree.tags), list(tree.heads)
    for i, dep in enumerate(tree.deps):
        up = heads[i]
        if tags[i] == "VBD" and dep in ("amod", "compound"):
            tags[i] = "VBN"
        if tags[i] == "VB" and dep == "conj" and tags[up] == "VBP" and not tree.children(i, "aux"):
            tags[i] = "VBP"
        if tags[i][0] == "V" and dep == "conj" and tags[up][:2] in ("NN", "IN"):
            while tags[up][0] != "V" and heads[up] != up:
                up = heads[up]
            heads[i] = up if tags[up][0] == "V" else heads[i]
    return replace(tree, tags=tags, heads=heads)


def attached(tree: Tree, seen: Counter[object], of_verbs: Sequence[str]) -> Tree:
    """Returns the tree with prepositions behind objects where `seen` has them more often, and particles as such."""
    tags, heads, deps = list(tree.tags), list(tree.heads), list(tree.deps)
    for i, word in enumerate(tree.words):
        up, above = heads[i], heads[heads[i]]
        if deps[i] == "prep" and deps[up] == "dobj" and up < i and tags[above][0] == "V" and word != "of":
            verb, noun = lemma(tree.words[above]), tree.words[up]
            of_verb = seen["verb", verb, word, "prep"] / max(seen["verb", verb], 1)
            of_noun = seen["noun", noun, word, "prep"] / max(seen["noun", noun], 1)
            heads[i] = above if word in of_verbs or of_verb > max(of_noun, 0.02) else up
        elif deps[i] == "prep" and up == i - 1 and word in ("off", "up", "out") and tags[up][0] == "V":
            verb, nouns = lemma(tree.words[up]), tree.children(i, "pobj")
            if nouns and seen["verb", verb, word, "prt"] > 2 * seen["verb", verb, word, "prep"]:
                tags[i], deps[i], heads[nouns[0]], deps[nouns[0]] = "RP", "prt", up, "dobj"
    return Tree(tree.words, tags, heads, deps)


def noun_with_clause(tree: Tree) -> Tree:
    """Returns "man [is] talking" without auxiliary as a noun with its clause."""
    top = tree.root()
    subjects = [i for i in tree.children(top, "nsubj") if i < top and tree.tags[i][:2] == "NN"]
    if tree.tags[top] != "VBG" or len(subjects) != 1 or tree.children(top, "aux") or tree.children(subjects[0], "conj"):
        return tree
    return under_its_noun(tree, subjects[0])


def under_its_noun(tree: Tree, noun: int) -> Tree:
    """Returns the tree with its verb as a clause of a noun."""
    heads, deps, top = list(tree.heads), list(tree.deps), tree.root()
    heads[noun], deps[noun], heads[top], deps[top] = noun, "ROOT", noun, "acl"
    return replace(tree, heads=heads, deps=deps)


@cache
def lemma(verb: str) -> str:
    """Returns the dictionary form of a verb."""
    return str(next(iter(lemminflect.getLemma(verb, "VERB")), verb))


@cache
def inflected(word: str, tag: str) -> str | None:
    """Returns the form of a word that has a tag."""
    return next(iter(lemminflect.getInflection(word, tag)), None)
