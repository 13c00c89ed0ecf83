"""Contrasts chosen over all clips of a split: of verbs and things by the lexicon or a model; of kinds by rules."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from video_contrast.builders.assembly.captioned_clip import (
    CANDIDATES,
    Attempt,
    CaptionedClip,
    ClipContrasts,
    ContrastSetOptions,
    EditOptions,
    Generator,
    TrainingVideos,
    normal,
    rounds,
)
from video_contrast.builders.assembly.review import LEAST
from video_contrast.console import counted, note
from video_contrast.errors import UsageError
from video_contrast.launcher import is_writer, spread
from video_contrast.options import named_values
from video_contrast.perturbations.contrast import Edit, kinds
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts
from video_contrast.perturbations.contrast.generate import (
    IMPROBABLE,
    ClipCaptions,
    ProposedContrasts,
    choose,
    load_counts,
    merged,
    propose,
)
from video_contrast.perturbations.contrast.generators import CaptionGenerator, check_generator_options, make_generator
from video_contrast.perturbations.contrast.judge import Judge, threshold
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.contrast.proposal import GENERATOR, Proposal, RejectedEdit, Target
from video_contrast.perturbations.contrast.select import SMALL, variety
from video_contrast.perturbations.english import parse
from video_contrast.perturbations.english.language import unfit
from video_contrast.pretrained import device_of
from video_contrast.seeds import Streams
from video_contrast.storage.set_folder import Facts

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.generators.llm import Chat


VERB_KIND_OF: dict[Generator, str] = {"lexicon": "verb_lexical", "t5": "verb_lm", "mlm": "verb_mlm", "llm": "verb_llm"}


@dataclass(kw_only=True)
class WordProposals:
    """The maker of proposals for verb (or object) contrasts: their generator, counts, judge and least probability."""

    target: Target = "verb"
    generator: Generator = "lexicon"
    options: EditOptions
    training: TrainingVideos | None = None  # added to the shipped counts
    judge: Judge | None = None  # default: the shipped one
    chat: "Chat | None" = None  # answers in place of the chat model that the options name

    def __post_init__(self) -> None:
        """Says what is wrong with options before models are looked for."""
        if self.generator == "lexicon":
            if self.options.generator_model or self.options.generator_options:
                raise UsageError(
                    "--generator-model and --generator-options belong to the generators t5, mlm and llm; "
                    "lexicon has no model"
                )
            return
        check_generator_options(self.generator, self._named_options())
        if self.target == "object" and self.generator != "mlm":  # the only model that proposes things
            self.generator = "lexicon"
            self.options = replace(self.options, generator_model=None, generator_options=None)

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else VERB_KIND_OF[self.generator]

    @property
    def on_gpu(self) -> bool:
        """Whether the generator's model runs on a GPU, which does not outlive a fork."""
        if self.generator == "lexicon" or "endpoint" in self._named_options():
            return False
        return device_of(str(self._named_options().get("device", "auto"))).startswith("cuda")

    @cached_property
    def counts(self) -> CaptionCounts:
        """The shipped counts with those of the user's training captions."""
        return load_counts(self.training() if self.training is not None else None)

    @cached_property
    def model(self) -> CaptionGenerator | None:
        """The generator's model, loaded at first use; None for the lexicon."""
        if self.generator == "lexicon":
            return None
        return make_generator(self.generator, self._named_options() | ({"chat": self.chat} if self.chat else {}))

    def propose(self, clips: Sequence[ClipCaptions]) -> ProposedContrasts:
        """Returns every contrast of the clips that is probable enough."""
        quality = self.options.quality
        return propose(clips, self.counts, target=self.target, quality=quality, generator=self.model, judge=self.judge)

    def _named_options(self) -> dict[str, object]:
        generator_options = named_values(self.options.generator_options, "--generator-options")
        return generator_options | ({"model": self.options.generator_model} if self.options.generator_model else {})


class Choices(NamedTuple):
    """The contrasts of a block that were chosen over all blocks of a set."""

    all_proposals: ProposedContrasts
    contrasts: Mapping[str, Proposal]  # clip id -> its contrast


@dataclass(kw_only=True)
class WordContrasts(WordProposals):
    """The verb (or object) contrasts of a set."""

    options: ContrastSetOptions
    record: Facts = field(default_factory=dict)
    choice: Choices | None = None  # contrasts that were chosen already, beside other blocks
    _candidates: dict[str, list[tuple[int, Edit]]] = field(default_factory=dict)

    def contrast_clips(self, clips: Sequence[CaptionedClip]) -> ClipContrasts:
        """Makes one contrast for as many of the clips as possible.

        With the `caption` "eligible" any caption may be contrasted, and the choice over the whole set decides which (a
        model is asked about one caption after the other, until one has a contrast); with "base" only the first one in
        seeded order.
        """
        all_proposals, proposal_of = self.choice or self._choose(clips)
        least = threshold(self.options.quality, self.target)
        self.record = {**all_proposals.record, "quality": self.options.quality, "least_probability": least}
        if choices := list(proposal_of.values()):
            self.record["mean_probability"] = round(sum(proposal.probability for proposal in choices) / len(choices), 4)
            self.record["opposites"] = sum(proposal.antonym for proposal in choices)
            self.record |= variety_facts(Counter((proposal.unit, proposal.other) for proposal in choices))
        reasons = _of_candidates(all_proposals.reasons)
        contrasts = ClipContrasts(clips=len(clips), reasons=reasons, candidates=self._candidates)
        for clip in clips:
            if (proposal := proposal_of.get(clip.id)) is not None:
                contrasts.edits[clip.id] = (proposal.index, [proposal.edit()])
                base = clip.caption_order(self.options.seed)[0]
                contrasts.base += any(proposal.index == base for proposal in all_proposals.proposals[clip.id])
        if is_writer() and proposal_of:
            note(
                f"{self.target}: mean probability {self.record['mean_probability']:.2f}, "
                f"{self.record['effective_edits']} effective edits in {counted(len(proposal_of), 'item')}, the ten "
                f"commonest are {self.record['ten_commonest_edits']:.0%}, {self.record['effective_replaced']} "
                f"effective {self.target}s replaced, {self.record['effective_replacements']} put in"
            )
        if is_writer() and 0 < len(all_proposals.proposals) < SMALL:
            note(f"{self.target}: of fewer than {SMALL} clips none is left out for evenness; see the blind score")
        for name, why in sorted(all_proposals.missing.items()) if is_writer() and self.options.explain else ():
            note(f"no {self.target} contrast for {name}: {why}")
        return contrasts

    def _choose(self, clips: Sequence[CaptionedClip]) -> Choices:
        least = threshold(self.options.quality, self.target)
        quality = str(min(LEAST, least)) if self.options.review else self.options.quality
        whole = replace(self, options=replace(self.options, quality=quality))
        all_proposals = whole.proposals_of(clips, num_proc=self.options.num_proc)
        self._candidates = {name: [(p.index, p.edit()) for p in own] for name, own in all_proposals.proposals.items()}
        if self.options.review:
            good = {name: [p for p in own if p.probability >= least] for name, own in all_proposals.proposals.items()}
            all_proposals.proposals = {name: own for name, own in good.items() if own}
            improbable = dict.fromkeys(good.keys() - all_proposals.proposals.keys(), IMPROBABLE)
            all_proposals.missing |= improbable
            all_proposals.reasons.update(improbable.values())
        return Choices(all_proposals, choose(all_proposals))

    def proposals_of(self, clips: Sequence[CaptionedClip], *, num_proc: int = 1) -> ProposedContrasts:
        """The proposals for clips; models on a GPU are run by this process."""
        _ = self.counts  # read before processes are forked, which share it
        parts = spread(self._of_clips, clips, num_proc=1 if self.on_gpu else num_proc)
        return merged(parts, target=self.target, quality=self.options.quality, seed=self.options.seed)

    def facts(self) -> Facts:
        """The facts of the generator for the card."""
        return {"word_edits": dict(self.record)}

    def _of_clips(self, clips: Sequence[CaptionedClip]) -> ProposedContrasts:
        if self.model is None and self.options.caption == "eligible":
            return self.propose([ClipCaptions(clip.id, clip.captions, clip.other_captions) for clip in clips])
        parts: list[ProposedContrasts] = []
        finished_ids: set[str] = set()
        for attempts in rounds(clips, self.options, finished_ids):
            of_round = self.propose([ClipCaptions(a.clip.id, [a.caption], a.other_captions) for a in attempts])
            for attempt in attempts:
                if of_clip := of_round.proposals.get(attempt.clip.id):
                    of_round.proposals[attempt.clip.id] = [replace(p, index=attempt.index) for p in of_clip]
            finished_ids |= of_round.proposals.keys()
            parts.append(of_round)
        return merged(parts, target=self.target, quality=self.options.quality)


@dataclass(kw_only=True)
class WordEdits(WordProposals):
    """Every verb (or object) edit of a caption that is probable enough, the best first: a `ContrastGenerator`.

    A contrast set takes one edit a clip (`WordContrasts`); training and counterfactuals take several, of various verbs.
    """

    same_place: bool = False  # only edits of that verb (thing) of a caption which has most
    reason_of: dict[str, str] = field(default_factory=dict)  # caption -> why it has no edit, of the last call
    rejected_edits: list[RejectedEdit] = field(default_factory=list)  # of the last call, of a model

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The edits of each caption, and counts: of captions by outcome, and ("candidates:") of what rules rejected."""
        caption_of = {attempt.id: attempt.caption for attempt in attempts}
        all_proposals = self.propose([ClipCaptions(a.id, [a.caption], a.other_captions) for a in attempts])
        edits: dict[str, dict[str, Edit]] = {}
        for name, proposals in all_proposals.proposals.items():
            sizes = Counter(proposal.start for proposal in proposals)
            most = min(sizes, key=lambda start: (-sizes[start], start), default=None)
            for proposal in (p for p in proposals if not self.same_place or p.start == most):
                word = proposal.other.split()[0] if self.target == "verb" else proposal.other
                edits.setdefault(name, {}).setdefault(word, proposal.edit())
        self.reason_of = {caption_of[name]: why for name, why in all_proposals.missing.items()}
        self.rejected_edits = all_proposals.rejected
        reasons = _of_candidates(all_proposals.reasons)
        reasons.update(edited=len(edits), no_probable_contrast=len(attempts) - len(edits))
        return [list(edits.get(attempt.id, {}).values()) for attempt in attempts], reasons

    def facts(self) -> Facts:
        """The facts of the generator for a card."""
        name = GENERATOR if self.model is None else self.model.name
        return {"word_edits": {"generator": name, "quality": self.options.quality, "counts": list(self.counts.sources)}}


def _of_candidates(reasons: Counter[str]) -> Counter[str]:
    """Reasons under the names that `ClipContrasts.reasons` has for those of verbs and things."""
    return Counter({f"{CANDIDATES}{reason}": count for reason, count in reasons.items()})


def variety_facts(edits: Mapping[tuple[str, str], int]) -> Facts:
    """The variety of edits, for the card. `edits`: (replaced, put in) -> how often."""
    old_units: Counter[str] = Counter()
    put_in: Counter[str] = Counter()
    for (unit, other), n in edits.items():
        old_units[unit] += n
        put_in[other] += n
    of_edits = variety(Counter(edits).elements())
    return {
        "effective_edits": round(of_edits.effective, 1),
        "ten_commonest_edits": round(of_edits.ten_commonest, 4),
        "effective_replaced": round(variety(old_units.elements()).effective, 1),
        "effective_replacements": round(variety(put_in.elements()).effective, 1),
    }


@dataclass(frozen=True)
class KindContrasts:
    """One contrast of a kind for each clip of a set, so chosen that texts alone do not tell.

    As a `ContrastGenerator` (for training) it gives every contrast of each caption, one for each thing that it says.
    """

    kind: str  # of `RULES`
    options: ContrastSetOptions

    def contrast_clips(self, clips: Sequence[CaptionedClip]) -> ClipContrasts:
        """Makes one contrast for as many of the clips as can be evened."""
        streams, seed = Streams(), self.options.seed
        base = {clip.id: clip.caption_order(seed)[0] for clip in clips}
        proposals_of: dict[str, list[kinds.Candidate]] = {}
        for part in spread(partial(_propose, self.kind), clips, num_proc=self.options.num_proc):
            proposals_of.update(part)
        if self.options.caption == "base":
            for name, of_clip in proposals_of.items():
                proposals_of[name] = [proposal for proposal in of_clip if proposal.index == base[name]]
        contrasts = ClipContrasts(clips=len(clips))
        for name, option in kinds.choose(proposals_of, seed=seed, kind=self.kind).items():
            contrasts.edits[name] = (option.index, [option.contrast.as_edit("rules")])
        for name, of_clip in proposals_of.items():
            order = streams.at(seed, "kinds-review", self.kind, name).permutation(len(of_clip))
            contrasts.candidates[name] = [(of_clip[n].index, of_clip[n].contrast.as_edit("rules")) for n in order]
        unfit_captions = Counter(filter(None, (unfit(text) for clip in clips for text in clip.captions)))
        contrasts.reasons.update({f"{CANDIDATES}{reason}": n for reason, n in unfit_captions.items()})
        allow = sum(bool(of_clip) for of_clip in proposals_of.values())
        contrasts.reasons[f"{CANDIDATES}no contrast of the kind"] = len(clips) - allow
        contrasts.reasons[f"{CANDIDATES}texts alone would tell"] = allow - len(contrasts.edits)
        contrasts.reasons = +contrasts.reasons  # without zeros
        contrasts.base = sum(any(p.index == base[name] for p in proposals_of[name]) for name in contrasts.edits)
        return contrasts

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The contrasts of each caption: of those that replace the same words, one that the seed draws."""
        streams, of_clip = Streams(), {attempt.clip.id: attempt.clip for attempt in attempts}
        proposals_of = _propose(self.kind, list(of_clip.values()))
        edits = []
        for attempt in attempts:
            mine = [p.contrast for p in proposals_of[attempt.clip.id] if p.index == attempt.index]
            order = streams.at(self.options.seed, "kinds", self.kind, attempt.id).permutation(len(mine))
            unlike = {(mine[int(n)].unit, mine[int(n)].start + len(mine[int(n)].old)): mine[int(n)] for n in order}
            edits.append([contrast.as_edit("rules") for contrast in unlike.values()])
        none = sum(not of_caption for of_caption in edits)
        return edits, Counter({"edited": len(edits) - none, "no_contrast_of_the_kind": none})


def _propose(kind: str, clips: Sequence[CaptionedClip]) -> dict[str, list[kinds.Candidate]]:
    """The proposals of a chunk of clips; a top-level function, so that processes can share the work."""
    texts = list(dict.fromkeys(text for clip in clips for text in (*clip.captions, *clip.other_captions)))
    sentences = dict(zip(texts, parse(texts), strict=True))
    proposals_of = {}
    for clip in clips:
        own = [sentences[text] for text in clip.captions]
        others = [sentences[text] for text in clip.other_captions if text not in clip.captions]
        truths = clip.truths()
        of_clip = kinds.proposals(kind, own, load_lexicon(), others)
        proposals_of[clip.id] = [option for option in of_clip if normal(option.contrast.text) not in truths]
    return proposals_of
