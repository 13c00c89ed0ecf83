"""Contrast sets as training data of generative models: preference pairs, and questions whose answers can be checked.

The prompts are the runner's own (`runner.kinds.prompts`), so that what is trained is what `score --scoring ...` asks.
TRL reads the folder with `load_dataset`: conversational prompt, chosen and rejected (its DPOTrainer), or prompt and
`solution` (its GRPOTrainer with `answer_reward`); `images` holds the sampled frames, `videos` the clips' paths.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.errors import UsageError, VideoContrastError, libraries_named
from video_contrast.files import atomic_path, remove_abandoned, resolve_under, write_json, write_text
from video_contrast.options import Configs, Range, Seed, VideoRoot, as_record, names_in, with_options
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, letter_place, question_of, yes_no_place
from video_contrast.rows import MultipleChoiceRow, layout_of
from video_contrast.runner.kinds import prompts
from video_contrast.seeds import digest, stream
from video_contrast.storage import SetFolder
from video_contrast.video import BrokenVideo, Clip, UnseenEdit, footage_of

Row = dict[str, Any]  # of the folder, whose columns `_write` declares
NOT_CONTRASTS = ("true", "random")
RECORD = "preferences.json"
TRL = (1, 16)  # the first version that this was tested with


class Preference(NamedTuple):
    """A prompt with two answers; `chosen` and `rejected` are TRL's words."""

    prompt: str
    chosen: str
    rejected: str
    kind: str  # of contrast


@dataclass(frozen=True, kw_only=True)
class PreferenceOptions:
    """The items that become training data, and their form."""

    output: Annotated[Path, "folder to write into"]
    format_: Annotated[Literal["dpo", "grpo"], "preference pairs, or checkable answers"]
    config: Configs = None
    split: Annotated[str, "which split"] = "train"
    allow_test: Annotated[bool, "export a test split, of a set that is never scored"] = False
    scoring: Annotated[Literal["loglik", "yesno", "letter"] | None, "as in score; default: loglik, grpo: letter"] = None
    kinds: Annotated[str | None, "kinds of rejected captions, comma-separated; default: all but random"] = None
    frames: Annotated[int, "frames a clip, as `score --frames`", Range(1)] = 8
    limit: Annotated[int | None, "only the first items of each config", Range(1)] = None
    video_root: VideoRoot = None
    seed: Seed = 0

    @property
    def how(self) -> str:
        """The scoring whose prompts are used."""
        return self.scoring or ("loglik" if self.format_ == "dpo" else "letter")

    def check(self) -> None:
        """Raises a UsageError for options that do not go together."""
        if self.split.lower().startswith("test") and not self.allow_test:
            raise UsageError(
                f"--split {self.split} is what models are tested on: export train or validation, or give --allow-test "
                "if no model trained on it is ever scored on this set"
            )
        if self.format_ == "grpo" and self.how == "loglik":
            raise UsageError("--format grpo needs an answer that can be checked: give --scoring letter or yesno")


@with_options
def export_preferences(dataset: str | Path, *, request: PreferenceOptions) -> dict[str, int]:
    """Writes the items of a set as preference pairs or checkable questions; returns the counts.

    Returns "items", "rows", and how many were left out by reason ("equal", "unreadable", "no contrast"). Raises
    UsageError: a test split without consent, or options that do not go together; VideoContrastError: no row could be
    made.
    """
    request.check()
    remove_abandoned(request.output)
    folder = SetFolder.open(dataset)
    root = Path(request.video_root or folder.video_root)
    counts: Counter[str] = Counter()
    rows: list[Row] = []
    sizes: Counter[int] = Counter()  # items by number of candidates
    unreadable: dict[str, str] = {}
    names = request.config or folder.configs
    if not (having := [name for name in names if request.split in folder.splits(name)]):
        splits = sorted({split for name in names for split in folder.splits(name)})
        raise UsageError(f"--split {request.split}: {folder.path} has {', '.join(splits)}")
    configs = [name for name in having if layout_of(folder.first_rows(name, request.split, 1)[0]) != "retrieval"]
    if not configs:
        raise UsageError(f"{folder.path}: {', '.join(having)} has no contrasts; `video-contrast generate` makes some")
    for config in configs:
        for row in folder.choice_rows(config, request.split)[: request.limit]:
            counts["items"] += 1
            preferences = list(_preferences(row, sizes[len(row["candidates"])], request, counts))
            if not preferences:
                continue
            try:
                clip = _clip_columns(row, root, request)
            except (BrokenVideo, UnseenEdit) as error:
                unreadable.setdefault(row["video_path"], str(error))
                counts["unreadable"] += 1
                continue
            sizes[len(row["candidates"])] += 1
            for number, preference in enumerate(preferences):
                prompt = [{"role": "user", "content": preference.prompt}]
                text = f"{config}/{row['id']}/{number}"
                rows.append({"id": text, "kind": preference.kind, "prompt": prompt, **clip})
                if request.format_ == "grpo":
                    rows[-1]["solution"] = preference.chosen
                    continue
                rows[-1]["chosen"] = [{"role": "assistant", "content": preference.chosen}]
                rows[-1]["rejected"] = [{"role": "assistant", "content": preference.rejected}]
    if not rows:
        reasons = ", ".join(f"{n} {reason}" for reason, n in counts.items())
        reason = next((f"{why} (--video-root)" for why in unreadable.values()), f"items left out: {reasons}")
        raise VideoContrastError(f"{dataset}, split {request.split}: no row could be made; {reason}")
    counts["rows"] = len(rows)
    _write(rows, request, str(dataset))
    record = {"set": str(dataset), "options": as_record(request), "counts": counts, "unreadable": unreadable}
    write_json(request.output / RECORD, record)
    return dict(counts)


def answer_reward(completions: Sequence[Any], solution: Sequence[str], **_: object) -> list[float]:  # as TRL has them
    """TRL's reward for checkable answers: 1 where the answer, read as `score` reads it, is the solution, else 0.

    `completions`: texts, or conversations of one message, as GRPOTrainer hands them over. `solution`: the right answer
    of each ("B", "Yes").

    >>> answer_reward(["B.", "The answer is B", " yes, it does"], ["B", "B", "Yes"])
    [1.0, 1.0, 1.0]
    """
    rewards = []
    for completion, answer in zip(completions, solution, strict=True):
        text = completion if isinstance(completion, str) else completion[-1]["content"]
        if not isinstance(text, str):
            text = "".join(part.get("text", "") for part in text)
        place = yes_no_place(text) if answer.lower() in prompts.YES_NO else letter_place(text, len(LETTERS))
        rewards.append(float(place is not None and place[0].lower() == answer.lower()))
    return rewards


def check_trainable(model: str | Path, pairs: str | Path) -> None:
    """The faults that would show only once the model is loaded, or train it without pictures.

    Raises UsageError: the installed TRL is absent or too old, or the folder holds no training data; VideoContrastError:
    the base has no chat template.
    """
    from importlib.metadata import version

    from packaging.version import Version
    from transformers import AutoProcessor

    from video_contrast.runner.kinds.chat_prompts import template_of

    with libraries_named():
        release = version("trl")
    if Version(release).release < TRL:
        oldest = ".".join(map(str, TRL))
        raise UsageError(f'TRL {release} trains on no pictures, {oldest} does: `pip install -U "video-contrast[trl]"`')
    if not (Path(pairs) / RECORD).exists():
        raise UsageError(f"{pairs} holds no preferences: `video-contrast export preferences SET --output {pairs}`")
    try:
        processor = AutoProcessor.from_pretrained(str(model))
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise VideoContrastError(f"{model} has no processor that can be loaded: {first}") from error
    template_of(processor)


def _preferences(
    row: MultipleChoiceRow, position: int, request: PreferenceOptions, counts: Counter[str]
) -> Iterator[Preference]:
    """The preferences of an item; `position` is among those with as many candidates."""
    candidates, kinds = row["candidates"], row["kinds"]
    true = candidates[row["label"]]
    only = names_in(request.kinds)
    question = question_of(row)
    wrong = []
    for number, (text, kind) in enumerate(zip(candidates, kinds, strict=True)):
        if number == row["label"] or (kind not in only if only is not None else kind in NOT_CONTRASTS):
            continue
        if normal(text) == normal(true):
            counts["equal"] += 1
            continue
        wrong.append(number)
    if not wrong:
        counts["no contrast"] += 1
    elif request.how == "loglik":
        prompt = prompts.DESCRIBE if question is None else question.text
        yield from (Preference(prompt, true, candidates[n], kinds[n]) for n in wrong)
    elif request.how == "yesno" and question is None:
        for n in wrong:  # as many answers are Yes as No
            yield Preference(prompts.YESNO.format(caption=true), "Yes", "No", kinds[n])
            yield Preference(prompts.YESNO.format(caption=candidates[n]), "No", "Yes", kinds[n])
    else:
        yield from _letters(row, position, wrong, request)


def _letters(
    row: MultipleChoiceRow, position: int, wrong: Sequence[int], request: PreferenceOptions
) -> Iterator[Preference]:
    """An item as a question by letter; of k following items the true caption stands once at each place."""
    candidates = row["candidates"]
    k = len(candidates)
    if k > len(LETTERS):
        raise UsageError(f"{row['id']}: {k} candidates are more than letters; give --scoring yesno or loglik")
    question = question_of(row)
    if question is not None and question.is_yes_no(candidates):
        true, false = candidates[row["label"]], candidates[1 - row["label"]]
        prompt = question.of_frames(request.frames).prompt_for(candidates)
        yield Preference(prompt, true, false, row["kinds"][1 - row["label"]])
        return
    rest = [n for n in range(k) if n != row["label"]]
    rest = [rest[int(n)] for n in stream(request.seed, "preferences", row["id"]).permutation(k - 1)]
    place = prompts.latin_rotation(position, k, request.seed)
    order = [*rest[:place], row["label"], *rest[place:]]
    prompt = (question or WHICH_SENTENCE).of_frames(request.frames).prompt_for([candidates[n] for n in order])
    for n in wrong if request.format_ == "dpo" else wrong[:1]:
        yield Preference(prompt, LETTERS[place], LETTERS[order.index(n)], row["kinds"][n])


def _clip_columns(row: MultipleChoiceRow, root: Path, request: PreferenceOptions) -> Row:
    """The clip's path and its frames, written once a clip as the runner samples them."""
    from PIL import Image

    clip = Clip.of(row)
    footage = footage_of(root, clip)
    numbers = footage.sample(request.frames, "uniform")
    folder = request.output / "frames" / digest(str(clip)).hex()[:16]
    paths = [folder / f"{number:06d}.png" for number in numbers.tolist()]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        for path, frame in zip(paths, footage.decode(numbers.tolist()), strict=True):
            with atomic_path(path) as temporary:
                Image.fromarray(frame).save(temporary, format="PNG")
    images: list[dict[str, str | None]] = [{"bytes": None, "path": str(path.resolve())} for path in paths]
    return {"images": images, "videos": [str(resolve_under(root, part)) for part in clip.paths]}


def _write(rows: Sequence[Row], request: PreferenceOptions, source: str) -> None:
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as pq

    message = [{"role": datasets.Value("string"), "content": datasets.Value("string")}]
    text = datasets.Value("string")
    answer = {"solution": text} if request.format_ == "grpo" else {"chosen": message, "rejected": message}
    clip = {"images": datasets.List(datasets.Image()), "videos": datasets.List(text)}
    schema = datasets.Features({"id": text, "kind": text, "prompt": message, **answer, **clip}).arrow_schema
    table = pa.Table.from_pylist(list(rows), schema=schema)
    # Named by what it holds: the cache of `datasets` takes a file of the same name for the same file.
    file = f"{request.split}-{digest(json.dumps(table.to_pylist(), sort_keys=True)).hex()[:12]}.parquet"
    folder = request.output / "data"
    for former in folder.glob(f"{request.split}-*.parquet"):
        former.unlink()
    with atomic_path(folder / file) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    title = "Preference pairs" if request.format_ == "dpo" else "Questions with checkable answers"
    facts = {"title": title, "source": source, "split": request.split, "format": request.format_, "file": file}
    template = Path(__file__).with_name("preferences_card.md").read_text(encoding="utf-8")
    write_text(request.output / "README.md", template.format(**facts, scoring=request.how))
