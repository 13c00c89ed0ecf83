"""Actions and things of a caption as an AMR parser sees them (abstract meaning representation), instead of the tagger.

The RCAD paper takes its action tokens from an AMR graph: a PropBank frame ("walk-01") is an action, any other concept
is a thing. The parser itself is the user's. As the tagger `amr...` it is named in one of three ways:

    amr:FILE              graphs that any parser has written, in the format of the AMR corpora (`# ::snt` names the
                          caption); a caption without a graph is left to the taggers
    amr:MODULE:FUNCTION   a function: captions in (list of str), PENMAN strings out (None where it fails)
    amr                   amrlib with its parsing model

A graph's alignments (`walk-01~e.3`) say which word is meant; a graph without any is aligned by dictionary forms.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.english.forms import lemma, verb_tags
from video_contrast.perturbations.language.token import Token, words

Parser = Callable[[list[str]], Sequence[str | None]]
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
_NODE = re.compile(r"/\s*([^\s()~]+)(?:~(?:e\.)?(\d+(?:,\d+)*))?")
_FRAME = re.compile(r"(.+)-(\d\d+)$")
_REIFIED = 90  # "be-located-at-91", "have-rel-role-91": relations, which nobody does


class Concept(NamedTuple):
    """A node of a graph: its name ("walk-01", "dog"), and the tokens that it is aligned with."""

    name: str
    tokens: tuple[int, ...]

    @property
    def action(self) -> str | None:
        """The verb of a PropBank frame; None for everything else."""
        frame = _FRAME.fullmatch(self.name)
        return frame.group(1) if frame and int(frame.group(2)) < _REIFIED else None


def concepts(graph: str) -> list[Concept]:
    """The nodes of a graph in PENMAN notation, in its order.

    Raises:
        VideoContrastError: the parentheses do not match, or there is no node.

    >>> concepts("(w / walk-01~e.2 :ARG0 (m / man~e.1))")
    [Concept(name='walk-01', tokens=(2,)), Concept(name='man', tokens=(1,))]
    """
    body = _QUOTED.sub('""', "\n".join(line for line in graph.splitlines() if not line.lstrip().startswith("#")))
    nodes = [
        Concept(match.group(1), tuple(int(n) for n in (match.group(2) or "").split(",") if n))
        for match in _NODE.finditer(body)
    ]
    if not nodes or body.count("(") != body.count(")"):
        raise VideoContrastError(f"this is no graph in PENMAN notation: {' '.join(graph.split())[:80]!r}")
    return nodes


@dataclass(frozen=True)
class Meaning:
    """Which words of a caption (their places) name actions, and which name things."""

    actions: frozenset[int]
    things: frozenset[int]

    @classmethod
    def of(cls, caption: str, graph: str) -> "Meaning":
        """Reads a caption's graph.

        >>> Meaning.of("a man takes a walk", "(w / walk-01~e.4 :ARG0 (m / man~e.1))")
        Meaning(actions=frozenset({4}), things=frozenset({1}))
        >>> Meaning.of("a man rides horses", "(r / ride-01 :ARG0 (m / man) :ARG1 (h / horse))")
        Meaning(actions=frozenset({2}), things=frozenset({1, 3}))
        """
        nodes, caption_words = concepts(graph), words(caption)
        if any(node.tokens for node in nodes):
            places = _places(caption_words, _tokens(graph, caption_words))
            pairs = [(node, place) for node in nodes for token in node.tokens for place in places.get(token, ())]
        else:
            pairs = _by_lemma(nodes, caption_words)
        things = frozenset(place for node, place in pairs if not _FRAME.fullmatch(node.name))
        # "a player" is a person who plays: a word that also names a thing names no action.
        return cls(frozenset(place for node, place in pairs if node.action) - things, things)

    def tokens(self, tokens: list[Token]) -> list[Token]:
        """The tokens, with actions that the tagger took for nouns promoted to verbs."""
        fixed = list(tokens)
        for place in self.actions:
            if fixed[place].tag[:2] == "NN" and (tag := _verb_tag(fixed, place)):
                fixed[place] = fixed[place]._replace(tag=tag, lemma=lemma(fixed[place].text, tag))
        return fixed

    def names(self, target: str, place: int) -> bool:
        """Whether the word at `place` is an action ("verb") or a thing ("object")."""
        return place in (self.actions if target == "verb" else self.things)


class Meanings:
    """The meanings of captions, by a parser.

    Args:
        parser: captions to PENMAN strings.
        name: for records.
    """

    def __init__(self, parser: Parser, name: str) -> None:
        self._parser, self.name = parser, name
        self._known: dict[str, Meaning | None] = {}

    def read(self, captions: Sequence[str]) -> list[Meaning | None]:
        """One meaning a caption; None where the parser has no graph. A caption is parsed once."""
        unread = list(dict.fromkeys(text for text in captions if text.strip() and text not in self._known))
        graphs = list(self._parser(unread)) if unread else []
        if len(graphs) != len(unread):
            raise VideoContrastError(f"the AMR parser {self.name} gave {len(graphs)} graphs for {len(unread)} captions")
        for text, graph in zip(unread, graphs, strict=True):
            self._known[text] = Meaning.of(text, graph) if graph else None
        return [self._known.get(text) for text in captions]


def meanings(tagger: str) -> Meanings | None:
    """The parser that a tagger's name asks for (see the module); None where it asks for none.

    Raises:
        UsageError: there is no such file or function.
        VideoContrastError: amrlib or its model is not installed, or a graph in the file cannot be read.
    """
    tagger = (os.environ.get("VIDEO_CONTRAST_TAGGER") or tagger) if tagger == "auto" else tagger
    return _load(tagger) if is_amr(tagger) else None


def is_amr(tagger: str) -> bool:
    """Whether a tagger's name asks for an AMR parser."""
    return tagger == "amr" or tagger.startswith("amr:")


@lru_cache(4)
def _load(tagger: str) -> Meanings:
    parser = tagger.partition(":")[2]
    if not parser:
        return Meanings(*_amrlib())
    if Path(parser).is_file():
        return Meanings(*_of_file(Path(parser)))
    module, colon, function = parser.partition(":")
    if not colon:
        raise UsageError(f"the tagger {tagger!r}: no such file (amr:FILE with graphs, or amr:MODULE:FUNCTION)")
    try:
        return Meanings(getattr(import_module(module), function), parser)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"the tagger {tagger!r}: {error}") from error


def _of_file(path: Path) -> tuple[Parser, str]:
    from video_contrast.files import sha256

    graphs: dict[str, str] = {}
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        caption = re.search(r"^# ::snt (.*)$", block, re.MULTILINE)
        if caption:
            concepts(block)  # a broken graph is said now, not in the middle of a build
            graphs[" ".join(caption.group(1).split())] = block
    if not graphs:
        raise VideoContrastError(f"{path}: no graph; each needs a line '# ::snt CAPTION' and a blank line after it")
    return lambda captions: [graphs.get(" ".join(text.split())) for text in captions], f"amr-{sha256(path)[:12]}"


def _amrlib() -> tuple[Parser, str]:
    from importlib.metadata import version

    try:
        import amrlib
    except ImportError as error:
        raise VideoContrastError(
            "the tagger 'amr' needs amrlib and one of its parsing models: pip install amrlib, then unpack a model as "
            "https://amrlib.readthedocs.io says; or give the graphs of another parser as amr:FILE"
        ) from error
    try:
        model = amrlib.load_stog_model()
    except (OSError, FileNotFoundError) as error:
        raise VideoContrastError(f"amrlib has no parsing model (https://amrlib.readthedocs.io): {error}") from error
    return model.parse_sents, f"amrlib-{version('amrlib')}"


def _tokens(graph: str, otherwise: list[str]) -> list[str]:
    """The tokens that a graph's alignments count: those of its metadata, or the caption's words."""
    for kind, value in re.findall(r"^# ::(tokens|tok) (.*)$", graph, re.MULTILINE):
        return list(json.loads(value)) if kind == "tokens" else value.split()
    caption = re.search(r"^# ::snt (.*)$", graph, re.MULTILINE)
    return caption.group(1).split() if caption else otherwise


def _places(ours: list[str], tokens: list[str]) -> dict[int, list[int]]:
    """Token -> our words that share a letter with it; both cut the same caption, each in its own way."""

    def word_of_each_letter(parts: list[str]) -> list[int]:
        return [n for n, part in enumerate(parts) for _ in "".join(part.split())]

    token_to_words: dict[int, list[int]] = {}
    mine, theirs = word_of_each_letter(ours), word_of_each_letter(tokens)
    if len(mine) != len(theirs):
        raise VideoContrastError(f"a graph's tokens {' '.join(tokens)!r} are not those of {' '.join(ours)!r}")
    for place, token in dict.fromkeys(zip(mine, theirs, strict=True)):
        token_to_words.setdefault(token, []).append(place)
    return token_to_words


def _by_lemma(nodes: list[Concept], caption_words: list[str]) -> list[tuple[Concept, int]]:
    free = dict(enumerate(caption_words))
    pairs = []
    for node in nodes:
        verb = (node.action or "").partition("-")[0]
        for place, word in free.items():
            fits = lemma(word, "VB") == verb and verb_tags(word) if verb else lemma(word, "NN") == node.name
            if fits:
                pairs.append((node, place))
                del free[place]
                break
    return pairs


def _verb_tag(tokens: list[Token], place: int) -> str | None:
    """The verb tag of a word that names an action; None where it does so as a noun ("takes a walk")."""
    can = verb_tags(tokens[place].text)
    before = tokens[place - 1].tag if place else ""
    if before in ("DT", "PRP$", "JJ", "CD", "POS"):
        return None
    if before in ("NNS", "MD", "TO") or not place:
        return next((tag for tag in ("VB" if before != "NNS" else "VBP", "VBG", "VBD") if tag in can), None)
    return next((tag for tag in ("VBG", "VBZ", "VBD") if tag in can), None)
