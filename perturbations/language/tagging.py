"""Tags captions: one pass a unique caption, kept in the process and, if asked for, between runs."""

import multiprocessing
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from video_contrast.errors import UsageError
from video_contrast.perturbations.english.caption_store import CaptionStore
from video_contrast.perturbations.english.forms import lemma
from video_contrast.perturbations.language.amr import meanings
from video_contrast.perturbations.language.taggers import load
from video_contrast.perturbations.language.token import Token, spans, words

_KEPT = 500_000  # captions whose tags stay in memory: about 100 MB
_CHUNK = 2_000  # captions a worker takes at a time

_tags: OrderedDict[tuple[str, str], str] = OrderedDict()  # (tagger, caption) -> tags joined by spaces


def tag(
    captions: Sequence[str],
    *,
    tagger: str = "auto",
    num_proc: int = 1,
    cache: str | os.PathLike[str] | None = None,
) -> list[list[Token]]:
    """Words of each caption with Penn tags and lemmas. Equal captions are tagged once.

    Args:
        captions: any texts, also empty ones or other scripts (their words come out as nouns).
        tagger: auto, hanta, nltk, spacy:MODEL or amr... (`language.taggers`).
        num_proc: processes that share the tagging; the result is the same for any number.
        cache: an SQLite file that keeps tags between runs; made if absent. Default: the variable
            VIDEO_CONTRAST_TAGS, else none.

    Raises:
        VideoContrastError: the tagger's data is not installed, or its name is unknown.

    >>> [token[:3] for token in tag(["two men run"], tagger="hanta")[0]]
    [('two', 'CD', 'two'), ('men', 'NNS', 'man'), ('run', 'VBP', 'run')]
    """
    return list(iterate(captions, tagger=tagger, num_proc=num_proc, cache=cache))


def iterate(
    captions: Sequence[str],
    *,
    tagger: str = "auto",
    num_proc: int = 1,
    cache: str | os.PathLike[str] | None = None,
) -> Iterator[list[Token]]:
    """As `tag`, one caption's tokens at a time: a corpus of any size in bounded memory.

    Tagging is done in rounds of some 100,000 captions, so the first tokens do not wait for the last caption.

    Args:
        captions, tagger, num_proc, cache: as of `tag`.
    """
    if num_proc < 1:
        raise UsageError(f"num_proc must be at least 1, not {num_proc}")
    place = cache if cache is not None else os.environ.get("VIDEO_CONTRAST_TAGS") or None
    for first in range(0, len(captions), _KEPT // 5):
        part = captions[first : first + _KEPT // 5]
        tags = _tagged(list(dict.fromkeys(part)), tagger, num_proc, place)
        for caption in part:
            yield _tokens(caption, tags[caption])


def tagger_name(tagger: str = "auto") -> str:
    """What the tags depend on, for cards and records: packages, models, versions, our rules."""
    parser = meanings(tagger)
    return load(tagger).name + (f"+{parser.name}" if parser else "")


def _tokens(caption: str, tags: str) -> list[Token]:
    return [
        Token(text := caption[start:end], name, lemma=lemma(text, name), start=start, end=end)
        for (start, end), name in zip(spans(caption), tags.split(), strict=True)
    ]


def _tagged(captions: list[str], tagger: str, num_proc: int, place: str | os.PathLike[str] | None) -> dict[str, str]:
    """The tags of unique captions: from memory, from the file, and the rest from the tagger."""
    name = load(tagger).name
    known = {caption: _tags[name, caption] for caption in captions if (name, caption) in _tags}
    missing = [caption for caption in captions if caption not in known]
    if not missing:
        return known
    new = CaptionStore(place, f"tags {name}").completed(missing, lambda texts: _run(texts, tagger, num_proc))
    for caption, tags in new.items():
        _tags[name, caption] = tags
    while len(_tags) > _KEPT:
        _tags.popitem(last=False)
    return known | new


def _run(captions: list[str], tagger: str, num_proc: int) -> list[str]:
    if num_proc == 1 or len(captions) <= _CHUNK:
        return _run_part((captions, tagger))
    parts = [(captions[first : first + _CHUNK], tagger) for first in range(0, len(captions), _CHUNK)]
    # Forked workers share the loaded model; elsewhere each loads its own (half a second).
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    with ProcessPoolExecutor(num_proc, mp_context=multiprocessing.get_context(method)) as pool:
        return [tags for part in pool.map(_run_part, parts) for tags in part]


def _run_part(task: tuple[list[str], str]) -> list[str]:
    captions, tagger = task
    return [" ".join(tags) for tags in load(tagger).tag([words(caption) for caption in captions])]
