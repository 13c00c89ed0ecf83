"""The parses that the passive by rules reads, where spaCy's English model is installed: one a caption, then kept.

The variable VIDEO_CONTRAST_TAGS names a file that keeps them between runs, beside the tags.
"""

import os
from collections import OrderedDict
from collections.abc import Sequence

from video_contrast.perturbations.contrast.generators.frames.words import Parse

_KEPT = 100_000  # captions whose parses stay in memory: about 200 MB

_parses: OrderedDict[tuple[str, str], Parse] = OrderedDict()  # (parser, caption) -> its words


def parser() -> str | None:
    """The model and version that parses depend on; None where no parser is installed."""
    from video_contrast.perturbations.contrast.generators.frames.parse import SHALLOW, parser_name, resolve

    return None if resolve() == SHALLOW else parser_name()


def parses(captions: Sequence[str]) -> list[Parse] | None:
    """The words of each caption with their heads; None where no parser is installed."""
    name = parser()
    if name is None:
        return None
    from video_contrast.perturbations.contrast.generators.frames.parse import parse

    unique = list(dict.fromkeys(captions))
    fresh = [caption for caption in unique if (name, caption) not in _parses]
    parsed = {caption: _parses[name, caption] for caption in unique if (name, caption) in _parses}
    parsed |= parse(fresh, cache=os.environ.get("VIDEO_CONTRAST_TAGS") or None)
    _parses.update({(name, caption): parsed[caption] for caption in fresh})
    while len(_parses) > _KEPT:
        _parses.popitem(last=False)
    return [parsed[caption] for caption in captions]
