"""The interface of generators of replacements. Generators propose and never reject; rules and the judge do."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class MaskedSpan(NamedTuple):
    """Words of a caption that are to be replaced: a verb with its particle and preposition, or a thing."""

    caption: str  # the text
    start: int  # characters of the words: `caption[start:end]`
    end: int
    head_start: int  # characters of the verb (the noun) among them
    head_end: int

    def masked(self, mask: str) -> str:
        """The caption with `mask` in place of the words."""
        return self.caption[: self.start] + mask + self.caption[self.end :]


class CaptionGenerator(Protocol):
    """Proposes other words for words of a caption, knowing that caption only."""

    name: str  # stands in every edit

    def propose(self, spans: Sequence[MaskedSpan]) -> list[list[str]]:
        """Returns what may stand in place of each span, in the form that fits there, the likeliest first."""
