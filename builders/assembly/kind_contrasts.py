"""Contrasts of the kinds that rules make (`perturbations.contrast.kinds`), for the clips of a set."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.builders.assembly.clip_contrasts import CANDIDATES, Attempt, CaptionChoice, ClipContrasts
from video_contrast.builders.assembly.sharding import spread
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.kinds.choice import Proposed, choose, proposals
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.contrast.unfit_caption import unfit
from video_contrast.perturbations.english import parse
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.seeds import Streams

GENERATOR = "rules"


@dataclass(frozen=True)
class KindContrasts:
    """One contrast of a kind for each clip of a set, so chosen that texts alone do not tell.

    As a `ContrastGenerator` (for training) it gives every contrast of each caption, one for each thing that it says.
    """

    kind: str  # of `RULES`
    seed: int = 0

    def contrast_clips(
        self, clips: Sequence[CaptionedClip], *, seed: int = 0, caption: CaptionChoice = "eligible", num_proc: int = 1
    ) -> ClipContrasts:
        """Makes one contrast for as many of the clips as can be evened; arguments as of the function."""
        streams = Streams()
        base = {clip.id: clip.caption_order(seed, streams)[0] for clip in clips}
        proposed: dict[str, list[Proposed]] = {}
        for part in spread(partial(_propose, self.kind), clips, num_proc=num_proc):
            proposed.update(part)
        if caption == "base":
            proposed = {name: [p for p in of_clip if p.index == base[name]] for name, of_clip in proposed.items()}
        contrasts = ClipContrasts(clips=len(clips))
        for name, option in choose(proposed, seed=self.seed, kind=self.kind).items():
            contrasts.edits[name] = (option.index, [option.contrast.as_edit(GENERATOR)])
        for name, of_clip in proposed.items():
            drawn = streams.at(self.seed, "kinds-review", self.kind, name).permutation(len(of_clip))
            contrasts.candidates[name] = [(of_clip[n].index, of_clip[n].contrast.as_edit(GENERATOR)) for n in drawn]
        unfit_captions = Counter(filter(None, (unfit(text) for clip in clips for text in clip.captions)))
        contrasts.tried.update({f"{CANDIDATES}{reason}": n for reason, n in unfit_captions.items()})
        allow = sum(bool(of_clip) for of_clip in proposed.values())
        contrasts.tried[f"{CANDIDATES}no contrast of the kind"] = len(clips) - allow
        contrasts.tried[f"{CANDIDATES}texts alone would tell"] = allow - len(contrasts.edits)
        contrasts.base = sum(any(p.index == base[name] for p in of_clip) for name, of_clip in proposed.items())
        return contrasts

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The contrasts of each caption: of those that replace the same words, one that the seed draws."""
        streams, of_clip = Streams(), {attempt.clip.id: attempt.clip for attempt in attempts}
        proposed = _propose(self.kind, list(of_clip.values()))
        edits = []
        for attempt in attempts:
            mine = [p.contrast for p in proposed[attempt.clip.id] if p.index == attempt.index]
            drawn = streams.at(self.seed, "kinds", self.kind, attempt.id).permutation(len(mine))
            unlike = {(mine[int(n)].unit, mine[int(n)].start + len(mine[int(n)].old)): mine[int(n)] for n in drawn}
            edits.append([contrast.as_edit(GENERATOR) for contrast in unlike.values()])
        none = sum(not of_caption for of_caption in edits)
        return edits, Counter({"edited": len(edits) - none, "no_contrast_of_the_kind": none})


def _propose(kind: str, clips: Sequence[CaptionedClip]) -> dict[str, list[Proposed]]:
    """The proposals of a chunk of clips; a top-level function, so that processes can share the work."""
    texts = list(dict.fromkeys(text for clip in clips for text in (*clip.captions, *clip.siblings)))
    sentences = dict(zip(texts, parse(texts, cache=user_store()), strict=True))
    proposed = {}
    for clip in clips:
        own = [sentences[text] for text in clip.captions]
        others = [sentences[text] for text in clip.siblings if text not in clip.captions]
        truths = clip.truths()
        of_clip = proposals(kind, own, load_lexicon(), others)
        proposed[clip.id] = [option for option in of_clip if normal(option.contrast.text) not in truths]
    return proposed
