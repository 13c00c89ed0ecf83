"""What a caption says is done: each verb with its particle, preposition, object, subject and what follows."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.generators.frames.tree import Tree, subject_key
from video_contrast.perturbations.contrast.generators.frames.words import Parse

# Verbs of many meanings, never proposed; what they say may be replaced.
ELASTIC = frozenset("take put give bring turn set call".split())  # noqa: SIM905
# Verbs that take their meaning from what follows; never replaced, never proposed.
LIGHT = frozenset(
    """be have do get go let keep want need like love seem try start begin stop continue help use attempt give take put
    bring come become come appear happen involve include contain feature consist end finish decide plan manage learn
    cause allow enable ask tell say think know believe feel remember forget wonder wish hope guess mean suppose
    name base date follow regard concern entitle title lead go'n gon gonna wan wanna depict portray""".split()  # noqa: SIM905
)
_NEUTRAL_ADVERBS = frozenset(
    """outside inside together outdoors indoors very then also just there here now while really again alone
    too still currently as live""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Action:
    """One verb of a caption.

    Attributes:
        place: of the verb among the caption's words.
        verb, particle, preposition: the unit that is replaced ("talk", "", "about"); lemma and words, "" for none.
        noun, compound, determiner: of the object or the preposition's object; "" where there is none.
        subject: how the subject is counted (`tree.subject_key`).
        plural: whether the subject is more than one.
        tag: Penn tag of the verb.
        start, end: characters of verb, particle and preposition.
        tails: what follows the noun and hangs on the verb: "with knife", "on", "~quickly".
        loose: the same for what hangs on the noun.
        context: "main", "conj", "noun" (a participle after its noun), "clause", "infinitive", "order" or "passive".
        company: the other verbs of the caption.
        fault: why this verb cannot be replaced; "" where it can.
        step: whether it tells somebody what to do, as the steps of a recipe do.
    """

    place: int
    verb: str
    particle: str
    preposition: str
    noun: str
    compound: str
    determiner: str
    subject: str
    plural: bool
    tag: str
    start: int
    end: int
    tails: tuple[str, ...]
    loose: tuple[str, ...]
    context: str
    company: tuple[str, ...]
    fault: str
    step: bool = False

    @property
    def unit(self) -> str:
        """Verb, particle and preposition: "talk about"."""
        return " ".join(part for part in (self.verb, self.particle, self.preposition) if part)

    @property
    def phrase(self) -> str:
        """Verb and particle: "pick up"."""
        return f"{self.verb} {self.particle}" if self.particle else self.verb


_OPENS_A_NOUN = ("DT", "PRP$", "JJ", "CD", "NN", "NNS", "NNP", "PRP")
_LIKE_PARTICLES = frozenset("down up out off away back over around along in through".split())  # noqa: SIM905
_CONTEXT = {"acl": "noun", "relcl": "noun", "conj": "conj", "advcl": "clause", "xcomp": "infinitive"}


def actions(words: Parse) -> list[Action]:
    """The content verbs of a caption, in its order, with those that cannot be replaced (and why)."""
    tree = Tree(words)
    listed = []
    for place, word in enumerate(words):
        if word.tag.startswith("VB") and word.dep not in ("aux", "auxpass", "amod", "compound"):
            listed.append(_action(tree, place))
    return listed


def _action(tree: Tree, place: int) -> Action:
    words = tree.words
    word = words[place]
    at, particle, preposition, noun_at = place, "", "", None
    fault = _fault(tree, place)
    prt = tree.child(place, "prt")
    if prt is not None:
        if prt == place + 1:
            particle, at = words[prt].text, prt
        else:
            fault = fault or "displaced particle"
    beside = words[at + 1] if at + 1 < len(words) and not particle else None
    if beside is not None and beside.head == place and beside.dep == "advmod" and beside.text in _LIKE_PARTICLES:
        particle, at = words[at + 1].text, at + 1
    if particle and at + 1 < len(words) and words[at + 1].text in ("and", "or"):
        fault = fault or "displaced particle"  # "jumping up and down"
    direct = tree.child(place, "dobj", "attr", "oprd")
    after = at + 1
    passive = tree.child(place, "nsubjpass")
    if passive is not None:
        noun_at = passive
    elif (
        direct is None
        and after < len(words)
        and words[after].dep in ("prep", "agent")
        and words[after].head in (place, at)
    ):
        inner = tree.child(after, "pobj")
        if inner is not None:
            preposition, noun_at, at = words[after].text, inner, after
            nested = tree.child(after, "prep")
            if nested is not None:
                fault = fault or "two prepositions"
        elif tree.child(after, "pcomp", "prep") is not None:
            preposition, at = words[after].text, after
            fault = fault or "clause after a preposition"
    elif direct is not None:
        noun_at = direct
        if direct < place:
            fault = fault or "object before the verb"
    noun = tree.noun(noun_at) if noun_at is not None else ""
    if noun_at is None and at + 1 < len(words) and words[at + 1].tag in _OPENS_A_NOUN:
        fault = fault or "object not found by the parser"
    if noun == "*":
        noun = _pronoun(tree, noun_at)
        if not noun:
            fault = fault or "pronoun as object"
    tails = _tails(tree, place, at, noun_at)
    loose = _tails(tree, noun_at, at, None) if noun_at is not None and passive is None else ()
    company = tuple(w.lemma for n, w in enumerate(words) if n != place and w.tag.startswith("VB") and w.lemma != "be")
    subject_at = tree.subject(place) if passive is None else None
    return Action(
        place=place,
        verb=word.lemma,
        particle=particle,
        preposition=preposition,
        noun=noun,
        compound=tree.compound(noun_at) if noun_at is not None else "",
        determiner=tree.determiner(noun_at) if noun_at is not None else "",
        subject=subject_key(tree, subject_at),
        plural=subject_at is not None and tree.is_plural(subject_at),
        tag=word.tag,
        start=word.start,
        end=words[at].end,
        tails=tails,
        loose=loose,
        context=_context(tree, place),
        company=company,
        fault=fault,
        step=_is_step(tree, place),
    )


def _is_step(tree: Tree, place: int) -> bool:
    """Whether a verb without a doer is an order, or goes on with the orders that a caption begins with."""
    words = tree.words
    if words[place].tag not in ("VB", "VBP") or tree.child(place, "nsubj", "nsubjpass", "aux", "auxpass") is not None:
        return False
    opening = next((word for word in words if word.dep != "advmod"), words[0])
    return words[place].head == place or opening.tag == "VB"


def _pronoun(tree: Tree, place: int | None) -> str:
    """The key of a pronoun as object: "each other", "him" (also her, them); "" for what says nothing."""
    if place is None:
        return ""
    text = tree.words[place].text
    if text in ("other", "another") and place and tree.words[place - 1].text in ("each", "one"):
        return "each other"
    if text.endswith(("self", "selves")):
        return "himself"
    return {"him": "him", "her": "him", "them": "them"}.get(text, "")


def _context(tree: Tree, place: int) -> str:
    word = tree.words[place]
    if tree.child(place, "nsubjpass") is not None:
        return "passive"
    if word.tag == "VB" and any(tree.words[n].tag == "TO" for n in tree.children[place]):
        return "infinitive"
    if word.head == place:
        return "order" if tree.child(place, "nsubj") is None and word.tag == "VB" else "main"
    return _CONTEXT.get(word.dep, "main")


def _fault(tree: Tree, place: int) -> str:
    """Why the verb at `place` is no plain active verb with its own object; "" if it is one."""
    words, word = tree.words, tree.words[place]
    deps = {words[n].dep for n in tree.children[place]}
    if word.lemma in LIGHT:
        return "light verb"
    if not word.text.isalpha():
        return "not a word"
    passive = deps & {"nsubjpass", "auxpass"}
    if (word.tag == "VBN" and not ({"nsubjpass", "auxpass"} <= deps)) or "agent" in deps:
        return "passive"
    if passive and (word.tag != "VBN" or tree.child(place, "dobj", "prt") is not None):
        return "passive"
    if "neg" in deps:
        return "negation"
    if deps & {"ccomp", "dative", "acomp", "csubj", "oprd", "attr"}:
        return "clause or second object"
    if any(words[n].dep == "xcomp" for n in tree.children[place]):
        return "clause or second object"
    if sum(words[n].dep == "dobj" for n in tree.children[place]) > 1:
        return "clause or second object"
    if word.dep in ("amod", "compound", "csubj", "nsubj", "dobj", "pobj", "npadvmod", "nmod"):
        return "not the verb of a clause"
    if len(word.text) < 3:
        return "not a word"
    if _inside(tree, place):
        return "inside another clause"
    if word.dep == "relcl" and any(
        words[n].dep == "dobj" and words[n].tag in ("WDT", "WP") for n in tree.children[place]
    ):
        return "object before the verb"
    following = words[place + 1] if place + 1 < len(words) else None
    if following is not None and following.dep == "cc" and place + 2 < len(words) and words[place + 2].tag == word.tag:
        # "cutting and cooking meat": the object belongs to both.
        return "shares its object"
    if word.dep == "conj" and words[word.head].tag.startswith("VB"):
        head_deps = {words[n].dep for n in tree.children[word.head]}
        if (
            word.tag != words[word.head].tag
            and not {word.tag, words[word.head].tag} <= {"VBZ", "VBP"}
            and "nsubj" not in deps
        ):
            return "joined with another form"
        if "dobj" in deps and "dobj" not in head_deps and abs(place - word.head) == 2:
            return "shares its object"
    return ""


_WAYS_IN = frozenset("start begin continue learn prepare go seem try get attempt proceed use".split())  # noqa: SIM905
_CLAUSE_WORDS = frozenset("where how why when what which whose whom that whether if because".split())  # noqa: SIM905


def _inside(tree: Tree, place: int) -> bool:
    """Whether a verb stands in a clause that hangs on what another verb means: "the food he eats"."""
    words, word = tree.words, tree.words[place]
    marks = {words[n].text for n in tree.children[place] if words[n].dep in ("advmod", "mark", "dobj", "pobj", "attr")}
    infinitive = any(words[n].tag == "TO" for n in tree.children[place])
    if infinitive:
        head = words[word.head]
        if "how" in marks:
            return False
        return not (word.dep == "xcomp" and head.lemma in _WAYS_IN) and word.head != place
    if marks & _CLAUSE_WORDS:
        return True
    if word.dep == "relcl":
        subject = tree.child(place, "nsubj")
        return subject is None or words[subject].text not in ("who", "that", "which")
    if word.dep == "ccomp":
        return word.head < place
    return word.dep in ("csubj", "acomp", "pcomp")


def _tails(tree: Tree, place: int, at: int, noun_at: int | None) -> tuple[str, ...]:
    """What else hangs on the verb or follows its noun: preposition and noun, adverbs, clauses."""
    words = tree.words
    tails = []
    for child in tree.children[place]:
        word = words[child]
        if child == noun_at:
            continue
        if word.dep == "prep" and child > at and word.text != "of":
            tails += _with_noun(tree, child)
            inner = tree.child(child, "pobj")
            for deeper in tree.children[inner] if inner is not None else ():
                if words[deeper].dep == "prep" and words[deeper].text != "of":
                    tails += _with_noun(tree, deeper)
        elif (word.dep == "advmod" and not place < child <= at and word.text not in _NEUTRAL_ADVERBS) or (
            word.dep in ("npadvmod", "prt") and child > at
        ):
            tails.append(f"~{word.text}")
        elif word.dep == "advcl" and word.tag == "VB":
            tails.append("to do")
    return tuple(tails)


def _with_noun(tree: Tree, place: int) -> list[str]:
    """A preposition with its noun: "with knife"."""
    inner = tree.child(place, "pobj")
    return [f"{tree.words[place].text} {tree.noun(inner) if inner is not None else ''}".strip()]
