"""The taggers and how they are chosen.

    auto       NLTK's perceptron and HanTa together where NLTK's data is installed, HanTa alone where not
    hanta      HanTa alone: the same everywhere, needs no data
    nltk       both; an error if NLTK's data is absent
    spacy:M    the installed spaCy model M (a name or a folder)
    amr...     tags as `auto`; which words are actions and things is said by an AMR parser (`language.amr`)

Every one is followed by `repair`. The variable VIDEO_CONTRAST_TAGGER changes what `auto` means.
"""

import os
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.language.amr import is_amr
from video_contrast.perturbations.language.hanta import HantaTagger
from video_contrast.perturbations.language.repair import repair
from video_contrast.untyped import SpacyPipeline

RULES = "7"  # rises when tokens, mapping or repair change, so that stored tags are not mixed with new ones
_PERCEPTRON = "taggers/averaged_perceptron_tagger_eng"


class Tagger(Protocol):
    """Penn tags of many captions' words."""

    name: str  # what the tags depend on: packages, models and their versions

    def tag(self, captions: list[list[str]]) -> list[list[str]]:
        """One tag a word."""


class BothTaggers:
    """NLTK's tags, with HanTa's where only HanTa sees a verb: together they miss half as many verbs as alone."""

    def __init__(self) -> None:
        from nltk.tag.perceptron import PerceptronTagger

        self._hanta = HantaTagger()
        self._perceptron = PerceptronTagger()
        self.name = f"nltk-{version('nltk')}+{self._hanta.name}"

    def tag(self, captions: list[list[str]]) -> list[list[str]]:
        """Penn tags of the words of each caption."""
        tagged = []
        for words, other in zip(captions, self._hanta.tag(captions), strict=True):
            own = [tag for _, tag in self._perceptron.tag(words)]
            tagged.append([b if b[:2] == "VB" and a[:2] != "VB" else a for a, b in zip(own, other, strict=True)])
        return tagged


class SpacyTagger:
    """A spaCy pipeline on our own words, so that spans agree with the other taggers'."""

    def __init__(self, model: str) -> None:
        import spacy

        try:
            self._pipeline: SpacyPipeline = spacy.load(model, disable=["ner", "lemmatizer"])
        except OSError as error:
            raise VideoContrastError(
                f"the spaCy model {model!r} is not installed: python -m spacy download {model} "
                "(or use the tagger 'hanta', which needs no data)"
            ) from error
        meta = self._pipeline.meta
        self.name = f"spacy-{meta['lang']}_{meta['name']}-{meta['version']}"

    def tag(self, captions: list[list[str]]) -> list[list[str]]:
        """Penn tags of the words of each caption."""
        from spacy.tokens import Doc

        documents = (Doc(self._pipeline.vocab, words=words) for words in captions)
        return [[token.tag_ or "NN" for token in document] for document in self._pipeline.pipe(documents)]


class Repaired:
    """A tagger followed by `repair`."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self.name = f"{tagger.name}+rules-{RULES}"

    def tag(self, captions: list[list[str]]) -> list[list[str]]:
        """Penn tags of the words of each caption."""
        tags = self._tagger.tag(captions)
        return [repair(words, tagged) for words, tagged in zip(captions, tags, strict=True)]


def load(name: str = "auto") -> Repaired:
    """The tagger called `name` (see the module); loaded once a process.

    Raises:
        UsageError: the name is unknown.
        VideoContrastError: its data or model is not installed; the message names the command that installs it.
    """
    return _load(resolve(name))


def resolve(name: str) -> str:
    """`auto` made definite: `nltk` or `hanta`, or what VIDEO_CONTRAST_TAGGER says."""
    if name == "auto":
        name = os.environ.get("VIDEO_CONTRAST_TAGGER") or "auto"
    if name == "auto" or is_amr(name):
        return "nltk" if has_nltk_data() else "hanta"
    if name not in ("hanta", "nltk") and not name.startswith("spacy:"):
        raise UsageError(f"unknown tagger {name!r}: choose auto, hanta, nltk, spacy:MODEL or amr:FILE")
    return name


def edition() -> str:
    """The tagger's kind and the edition of our rules, told without loading it: tags may change where this does."""
    return f"{resolve('auto')}-{RULES}"


def has_nltk_data() -> bool:
    """Whether NLTK's English perceptron lies where NLTK looks for it; asked without importing NLTK (2 s)."""
    if "nltk" in sys.modules:
        folders = [str(path) for path in sys.modules["nltk"].data.path]
    else:
        prefix = Path(sys.prefix)
        folders = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
        folders += [str(Path("~/nltk_data").expanduser())]
        folders += [str(prefix / part / "nltk_data") for part in (".", "share", "lib")]
        folders += [f"/usr/{part}/nltk_data" for part in ("share", "local/share", "lib", "local/lib")]
    return any(Path(f, _PERCEPTRON).is_dir() or Path(f, _PERCEPTRON + ".zip").is_file() for f in folders)


@lru_cache(4)
def _load(name: str) -> Repaired:
    if name.startswith("spacy:"):
        return Repaired(SpacyTagger(name.removeprefix("spacy:")))
    if name == "nltk":
        if not has_nltk_data():
            raise VideoContrastError(
                "the tagger 'nltk' needs NLTK's data: python -m nltk.downloader averaged_perceptron_tagger_eng "
                "(or use the tagger 'hanta', which needs none)"
            )
        return Repaired(BothTaggers())
    return Repaired(HantaTagger())
