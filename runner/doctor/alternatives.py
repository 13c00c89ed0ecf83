"""Other plausible settings of a model: does one of them tell true captions from false ones clearly better?

`ALTERNATIVES` is the table of what is tried: each entry yields the settings that apply to a model. A margin is by how
much the true caption of a clip beats the mean of the false ones, in standard deviations of a clip's scores under the
same setting, so that settings of other scales compare. A setting is "clearly better" where it adds at least `CLEARLY`
to the margin, the paired test over clips says so after Holm's correction over all that were tried (p < `LEVEL`), and
true captions beat more than half of the false ones under it (p < `WINS`).
"""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from video_contrast.console import counted, note
from video_contrast.errors import VideoContrastError
from video_contrast.golden import CAPTIONS
from video_contrast.metrics import holm, sign_flip
from video_contrast.runner.conditions import Visual
from video_contrast.runner.doctor.checks import is_testable
from video_contrast.runner.doctor.probe import Probe, make_probe
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import Encoder, product, unit_rows
from video_contrast.runner.kinds.generated import GeneratedScorer
from video_contrast.runner.kinds.generative import GenerativeScorer
from video_contrast.runner.kinds.loading import IMAGENET, OPENAI
from video_contrast.runner.kinds.model_recipes import recipe_of
from video_contrast.runner.plan import make_plan
from video_contrast.runner.process_share import Run
from video_contrast.runner.sets import load_set
from video_contrast.runner.traces import network_of
from video_contrast.runner.video_files import root_of
from video_contrast.runner.views import Sampling, views_of
from video_contrast.untyped import Tensor, TorchModel
from video_contrast.video import Policy

ITEMS = 24  # of the set
LEVEL, WINS = 0.05, 0.01
CLEARLY = 0.25
POLICIES: tuple[Policy, ...] = ("uniform", "linspace")
FRAMES = (8, 12, 16, 32)
RATES = (1.0, 2.0)
MOST = 64  # frames of a rate
TEMPLATES = ("a photo of {}", "a video of {}")
PREFIXES = {"captions": "query: ", "clips": "passage: "}  # of embedders that saved no prompts
RESAMPLES = {"bilinear": 2, "bicubic": 3}
MEANS = {  # name -> mean and standard deviation of the pixels
    "CLIP": OPENAI,
    "ImageNet": IMAGENET,
    "one half": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "no": ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
}
# Option -> the other that it goes with.
NEEDS = {"norm": ("scoring", "loglik"), "rotations": ("scoring", "letter"), "letter_prompt": ("scoring", "letter")}


@dataclass(frozen=True)
class ProbedSet:
    """Items of one set, and the run that they are of."""

    probe: Probe
    run: Run

    @property
    def model(self) -> Any:  # of any kind, with attributes of its own
        """The model that is tested."""
        return self.probe.model

    def like(self, **changes: Any) -> Probe:  # fields of a probe
        """The probe with other fields, and nothing computed yet."""
        return replace(self.probe, scores_of={}, **changes)


Under = Callable[[ProbedSet], AbstractContextManager[Probe]]
Settings = Iterator[tuple[str, Under]]


def try_alternatives(run: Run) -> Iterator[Outcome]:
    """A verdict "setting" for each alternative that applies: a doubt where it is clearly better, else a fact."""
    if network_of(run.model) is None:
        yield Outcome("setting", "fact", "no other setting tried: each would be asked of a server anew")
        return
    golden = load_set(CAPTIONS, None, "test")
    job = replace(run.job, dataset=golden, video_root=golden.root)
    golden_run = replace(run, job=job, plan=make_plan(golden, job.conditions, None), video_root=root_of(job))
    both = [ProbedSet(make_probe(one, items=ITEMS), one) for one in (run, golden_run)]
    if not (both := [own for own in both if is_testable(own.probe.clean)]):
        yield Outcome("setting", "fact", "no other setting tried: it takes three items with scores")
        return
    settings = [setting for alternatives in ALTERNATIVES for setting in alternatives(both[0])]
    began = time.perf_counter()
    usual = _separation(both, lambda items: nullcontext(items.like()))
    seconds = time.perf_counter() - began
    assert not isinstance(usual, str)  # it was scored before
    items = sum(len(own.probe.clips) for own in both)
    note(f"{len(settings)} other settings on {counted(items, 'clip')}: about {len(settings) * seconds:.0f} s")
    yield from _verdicts(usual, {name: _separation(both, under) for name, under in settings})


class Separation(NamedTuple):
    """The separation of captions by a setting, a number a clip."""

    margin: np.ndarray  # how far the true caption is above the mean of the false ones, in standard deviations
    wins: np.ndarray  # the share of false captions that it beats

    @classmethod
    def of(cls, scores: np.ndarray) -> "Separation":
        """The separation of scores float64[n, k] with the true caption first."""
        above_mean = scores - scores.mean(axis=1, keepdims=True)
        lead = scores[:, 0] - scores[:, 1:].mean(axis=1)
        return cls(lead / max(float(above_mean.std()), 1e-12), (scores[:, :1] > scores[:, 1:]).mean(axis=1))


def _verdicts(usual: Separation, results: dict[str, Separation | str]) -> Iterator[Outcome]:
    before = float(usual.margin.mean())
    yield Outcome("setting", "fact", f"as it is set: true captions win by {before:.2f} sd", {"margin": before})
    separations = {name: own for name, own in results.items() if isinstance(own, Separation)}
    changes = {name: own.margin - usual.margin for name, own in separations.items()}
    p_list = holm([sign_flip(change) for change in changes.values()]).tolist() if changes else []
    p_values = dict(zip(changes, p_list, strict=True))
    for name, own in results.items():
        if isinstance(own, str):
            yield Outcome("setting", "fact", f"{name}: not scored: {own}")
            continue
        margin, p = float(own.margin.mean()), p_values[name]
        says = f"{name}: {margin:.2f} sd (p = {p:.2g})"
        better = p < LEVEL and margin - before >= CLEARLY and own.wins.mean() > 0.5 and sign_flip(own.wins - 0.5) < WINS
        if better:
            times = f"{margin / before:.1f} times as much, " if before > 0 else ""
            says = f"{says}: {times}clearly better than as it is set"
        yield Outcome("setting", "doubt" if better else "fact", says, {"margin": margin, "p_value": p})


def _separation(both: list[ProbedSet], under: Under) -> Separation | str:
    """The separation of the items of both sets; or why the model cannot be scored so."""
    parts = []
    try:
        for items in both:
            with under(items) as probe:
                scores = probe.own_scores(probe.clips)
            if not is_testable(scores):
                return "some scores are no numbers"
            parts.append(Separation.of(scores))
    except VideoContrastError as error:
        return str(error)
    except (ValueError, RuntimeError, LookupError, TypeError) as error:  # of torch or a processor, at this setting
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return Separation(*map(np.concatenate, zip(*parts, strict=True)))


def _captions(change: Callable[[str], str]) -> Under:
    return lambda items: nullcontext(items.like(captions=[change(caption) for caption in items.probe.captions]))


def _model(change: Callable[[Any], Any]) -> Under:
    """A setting with a model that is made of the tested one and shares its weights."""
    return lambda items: nullcontext(items.like(model=change(items.model)))


def case(items: ProbedSet) -> Settings:
    """Captions in lower case."""
    if any(caption != caption.lower() for caption in items.probe.captions):
        yield "captions in lower case", _captions(str.lower)


def templates(items: ProbedSet) -> Settings:
    """Captions inside of a phrase, for encoders without prompts."""
    if isinstance(items.model, Encoder) and not hasattr(items.model, "prompt_text"):
        for template in TEMPLATES:
            yield f'captions as "{template}"', _captions(template.format)


def prompts(items: ProbedSet) -> Settings:
    """Prompts of embedders and rerankers: none, each that the checkpoint saved, or exchanged."""
    model = items.model
    attributes = {"captions": "prompt_text", "clips": "prompt_video"} if hasattr(model, "prompt_text") else {}
    attributes = attributes or ({"pairs": "prompt"} if hasattr(model, "prompt") else {})
    saved_prompts = {str(prompt) for prompt in (getattr(network_of(model), "prompts", None) or {}).values()}
    own = {what: str(model.facts.get(name, model.facts["prompt_text"])) for what, name in attributes.items()}
    for what, name in attributes.items():
        for prompt in sorted(({"", *saved_prompts} if saved_prompts else {"", PREFIXES.get(what, "")}) - {own[what]}):
            says = f'prompt of {what} "{prompt}"' if prompt else f"no prompt of {what}"
            yield says, _model(partial(_with, **{name: prompt}))
    if len(set(own.values())) > 1:
        prompts = {"prompt_text": own["clips"], "prompt_video": own["captions"]}
        yield "prompts of captions and clips exchanged", _model(partial(_with, **prompts))


def options(items: ProbedSet) -> Settings:
    """Every other choice of the options of the kind (pooling of frames, scoring, norm ...)."""
    values = items.run.job.kind_options
    for option in items.run.job.kind.options:
        other, value = NEEDS.get(option.name, (option.name, values[option.name]))
        if option.name in items.run.job.kind.not_numeric or values[other] != value:
            continue
        for choice in option.choices:
            owner = {"frame_size": "side"}.get(option.name, "prompt")  # what must be known of the owner's
            is_known = choice != "owner" or getattr(items.model.owner, owner, None)
            if choice != values[option.name] and is_known:
                name = f"--{option.name.replace('_', '-')} {choice}"
                yield name, _model(partial(_with, **{option.name: choice}))


def _with(model: Any, **changes: Any) -> Any:  # models and options of any kind
    """A model with other options of its kind, and the same weights."""
    if isinstance(model, GenerativeScorer):
        return GenerativeScorer(model.model, model.chat.processor, replace(model.options, **changes), model.owner)
    if isinstance(model, GeneratedScorer):
        return GeneratedScorer(model.model, model.tokenizer, model.processor, replace(model.options, **changes))
    new_model = copy.copy(model)
    for name, value in changes.items():
        attribute = name.removeprefix("itm_")
        if not hasattr(model, attribute):
            raise VideoContrastError(f"{type(model).__name__} has no {attribute}")
        setattr(new_model, attribute, value)
    return new_model


def lengths(items: ProbedSet) -> Settings:
    """Cosines, where embeddings differ in length."""
    if isinstance(items.model, Encoder) and items.model.vector_length is None:
        videos, texts = items.probe.rows
        norms = np.linalg.norm(np.concatenate([videos, texts]), axis=1) if videos.shape[1] == texts.shape[1] else [0.0]
        if np.ptp(norms) > 0.01 * np.mean(norms):
            cosines = partial(_with, join=lambda rows, others: product(unit_rows(rows), unit_rows(others)))
            yield "embeddings of one length", _model(cosines)


def text_pooling(items: ProbedSet) -> Settings:
    """The token that stands for a caption: in modules of sentence-transformers, or a text tower that takes one."""
    model = items.model
    modules = model.model if hasattr(model, "prompt_text") else ()
    if module := next((part for part in modules if type(part).__name__ == "Pooling"), None):
        for mode in ("cls", "lasttoken", "mean"):
            if mode != module.pooling_mode:
                yield f"pooled: {mode}", _attributes([module], pooling_mode=mode)
        return
    tower = getattr(getattr(model, "model", None), "text_model", None)
    if not isinstance(model, Encoder) or tower is None:
        return
    one_token: list[bool] = []  # whether what is pooled is the state of one token of each text

    def watched(states: Tensor, pooled: Tensor, mask: Tensor) -> Tensor:
        alike = pooled.shape == states[:, 0].shape and (states == pooled[:, None]).all(-1).any(-1).all()
        one_token.append(bool(alike))
        return pooled

    with _pooled_by(items, tower, watched):
        model.encode_texts(items.probe.captions[:2])
    if one_token and all(one_token):
        for name, pool in POOLED.items():
            yield f"captions by {name}", partial(_pooled_by, tower=tower, pool=pool)


Pool = Callable[[Tensor, Tensor, Tensor], Tensor]  # states [B, L, D], what is pooled now [B, D], mask [B, L]
POOLED: dict[str, Pool] = {
    "their first token": lambda states, pooled, mask: states[:, 0],
    "their last token": lambda states, pooled, mask: states[range(len(states)), mask.sum(1) - 1],
    "the mean of their tokens": lambda states, pooled, mask: (states * mask[..., None]).sum(1) / mask.sum(1)[:, None],
}


@contextmanager
def _pooled_by(items: ProbedSet, tower: TorchModel, pool: Pool) -> Iterator[Probe]:
    def hook(_: TorchModel, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> Any:
        states, pooled = getattr(output, "last_hidden_state", None), getattr(output, "pooler_output", None)
        if states is not None and pooled is not None:
            mask = keywords.get("attention_mask")
            mask = states.new_ones(states.shape[:2]).long() if mask is None else mask
            output.pooler_output = pool(states, pooled, mask)
        return output

    with tower.register_forward_hook(hook, with_kwargs=True):
        yield items.like()


def frames(items: ProbedSet) -> Settings:
    """Other numbers of frames, other places, a rate, and what the owner looks at."""
    run, model, now = items.run, items.model, items.run.job.sampling
    other: dict[str, Sampling] = {}
    count = now.frames if now.fps is None else None
    if len(items.probe.clips[0].frames) > 1:
        other |= {f"--sampling {policy}": replace(now, policy=policy) for policy in POLICIES}
    if model.frames is None:
        other |= {f"--frames {n}": replace(now, frames=n, fps=None) for n in FRAMES if n != count}
        if run.job.kind.family == "pair" or run.job.kind.by_rate:
            other |= {f"--fps {rate:g}": replace(now, frames=MOST, fps=rate) for rate in RATES if rate != now.fps}
        recipe = recipe_of(run.job.source, run.job.kind.name)
        if recipe is not None and recipe.owner is not None:
            owner = recipe.owner
            other["--frames owner"] = Sampling(owner.frames, owner.policy, now.accept_damaged, *owner.bounds)
    for name, sampling in other.items():
        if sampling != now:
            yield name, partial(_sampled, sampling=sampling)


def _sampled(items: ProbedSet, *, sampling: Sampling) -> AbstractContextManager[Probe]:
    clips = []
    for clip in items.probe.clips:
        assert clip.source is not None
        view = next(views_of(items.run.video_root, clip.source, (Visual(),), sampling, store=items.run.job.frames))
        clips.append(replace(clip, frames=view.frames, times=view.times))
    return nullcontext(items.like(clips=clips))


def pictures(items: ProbedSet) -> Settings:
    """How frames are resized, cropped and normalised."""
    model: Any = items.model
    inside = model.model[0] if hasattr(model, "prompt_text") and hasattr(model.model, "__getitem__") else None
    owners = [*vars(model).values(), *vars(getattr(model, "chat", model)).values(), getattr(inside, "processor", None)]
    inner = [getattr(owner, name, None) for owner in owners for name in ("video_processor", "image_processor")]
    parts = list({id(part): part for part in (*owners, *inner) if hasattr(part, "image_mean")}.values())
    if not parts:
        return
    first = parts[0]
    for name, value in RESAMPLES.items():
        if getattr(first, "do_resize", False) and int(first.resample) != value:
            yield f"{name} resizing", _attributes(parts, resample=value)
    crop = dict(getattr(first, "crop_size", None) or {})
    if getattr(first, "do_center_crop", False) and crop.keys() >= {"height", "width"}:
        whole = {"do_center_crop": False, "size": type(first.size)(height=crop["height"], width=crop["width"])}
        yield "whole pictures, not their middle", _attributes(parts, **whole)
    if getattr(first, "do_normalize", None) is not None:
        now = (tuple(first.image_mean), tuple(first.image_std)) if first.do_normalize else MEANS["no"]
        for name, (mean, std) in MEANS.items():
            if not np.allclose(now, (mean, std), atol=1e-3):
                fields = {"do_normalize": True, "image_mean": list(mean), "image_std": list(std)}
                yield f"{name} mean and std", _attributes(parts, **fields)


def _attributes(owners: list[Any], **values: object) -> Under:
    """A setting with other attributes of objects that the model shares."""

    @contextmanager
    def under(items: ProbedSet) -> Iterator[Probe]:
        before = [(owner, name, getattr(owner, name)) for owner in owners for name in values if hasattr(owner, name)]
        for owner, name, _ in before:
            setattr(owner, name, values[name])
        try:
            yield items.like()
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)

    return under


ALTERNATIVES = (case, templates, prompts, options, text_pooling, lengths, frames, pictures)
