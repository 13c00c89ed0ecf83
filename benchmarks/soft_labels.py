"""Soft logits against labels (LLM-teacher's `lgt` and `lbl`) where a known share of the negatives is true of the clip.

python benchmarks/soft_labels.py --output soft-labels --encoder sentence-transformers/all-MiniLM-L6-v2

Without --output it only shows that it works, on few clips and one seed.

The packaged plain temporal checkpoint learns the shapes world from captions with five negatives each. In the corpora
with paraphrases one of the five says the same in other words; the truth checker of the world confirms it. Frames go
once through the frozen vision tower; text tower and heads learn. Each arm's temperatures and weight of the in-batch
term are chosen on validation clips, one after the other, with seeds of their own; three seeds are then tested, and
each trained model's answers are kept in OUTPUT, so that an interrupted run goes on.

The losses, the model and the frozen towers are the product's; the loop is not. `teach` validates and saves checkpoints
as it goes and reads its teacher from a store; the many short trainings here need neither, take teachers that are no
encoders ("truth"), and are compared at the same last step, so that no choice of a checkpoint enters the differences.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import NotRequired

import numpy as np
import torch
from parts.command_line import parser_of

from video_contrast.builders.shapes.captions import claim, read, write
from video_contrast.builders.shapes.contrasts import TrueCaption, counterfactuals
from video_contrast.builders.shapes.contrasts import negatives as false_captions
from video_contrast.builders.shapes.render import FRAMES, render
from video_contrast.builders.shapes.truth import verdict
from video_contrast.builders.shapes.world import Scene, scenes
from video_contrast.files import read_json, write_json
from video_contrast.metrics import cluster_bootstrap
from video_contrast.seeds import digest, stream
from video_contrast.teacher.caption_rows import CaptionNegatives
from video_contrast.teacher.checkpoint import load_checkpoint
from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.similarity import LatentSemantics, TeacherEncoder, cosines, load_encoder
from video_contrast.untyped import Tokenizer
from video_contrast.video import frame_indices

DATA_SEED, NEGATIVES, BATCH, EPOCHS, RATE = 19, 5, 128, 8, 5e-3
SEEDS, CHOICE_SEED = (0, 1, 2), 100
SIZES = {"train": 1000, "validation": 600, "test": 3000, "gallery": 1000}
SMALL = {"train": 40, "validation": 20, "test": 40, "gallery": 20}  # without --output
# corpus -> whether captions use both wordings of an action, and how many of the five negatives are true
CORPORA = {"verified": (True, 0), "paraphrases": (True, 1), "unfamiliar paraphrases": (False, 1)}
TEACHER_TEMPERATURES, TEMPERATURES, WEIGHTS = (0.02, 0.06, 0.2), (0.05, 0.1), (1.0, 0.3)


class Row(CaptionNegatives):
    """A training caption with its negatives."""

    clip: int
    true: list[bool]  # which negatives are
    teacher: NotRequired[list[float]]  # cosines of the caption with itself (1) and with each negative


@dataclass(frozen=True)
class Arm:
    """An objective with what is chosen on validation; `teacher` None is `lbl`."""

    teacher: str | None
    teacher_temperature: float = 0.01
    temperature: float = 0.05
    weight: float = 1.0


@dataclass
class Clips:
    """Clips of a split: their scenes, what the frozen vision tower says of each, and six candidates, the true first."""

    scenes: list[Scene]
    features: torch.Tensor
    candidates: list[list[str]]


def with_questions(split: str, count: int) -> tuple[list[Scene], list[list[str]]]:
    """Scenes with five counterfactual captions each, every candidate in a wording drawn by chance."""
    shown, candidates = [], []
    for number, scene in enumerate(scenes(DATA_SEED, split, 10 * count)):
        rng = stream("soft labels", split, number)
        edits = counterfactuals(TrueCaption(scene, claim(scene)), rng)
        if edits:
            claims = [claim(scene), *(read(edit.text) for edit in edits)]
            shown.append(scene)
            candidates.append([write(claimed, phrase=int(rng.integers(2))) for claimed in claims])
            if len(shown) == count:
                break
    return shown, candidates


def corpus(train: Sequence[Scene], both_wordings: bool, true_negatives: int) -> list[Row]:
    """Two captions a clip with five negatives: other actions in either wording, or the caption in other words."""
    rows: list[Row] = []
    for number, scene in enumerate(train):
        for turn in (0, 1):
            rng = stream("soft labels", DATA_SEED, number, turn)
            wording = turn if both_wordings else 0
            own = claim(scene)
            edits = false_captions(scene, own, rng)
            claims = [read(text) for text in [*edits["antonym"], *edits["verb"]][: NEGATIVES - true_negatives]]
            texts = [write(claimed, phrase=int(rng.integers(2))) for claimed in claims]
            texts += [write(own, phrase=1 - wording)] * true_negatives
            true = [verdict(scene, text) == "true" for text in texts]
            rows.append({"id": f"{number}-{turn}", "clip": number, "caption": write(own, phrase=wording),
                         "negatives": texts, "true": true})  # fmt: skip
    return rows


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not followed
def features(pairs: Pairs, clips: Sequence[Scene]) -> torch.Tensor:
    """What the frozen vision tower says of the sampled frames, float32[clips, frames, width]."""
    places = frame_indices(FRAMES, pairs.model.config.vision_config.num_frames)
    parts = []
    for begin in range(0, len(clips), 32):
        pixels = np.stack([render(scene)[places] for scene in clips[begin : begin + 32]])
        parts.append(pairs.video_tower(torch.from_numpy(pixels).permute(0, 1, 4, 2, 3).float() / 127.5 - 1))
    return torch.cat(parts)


def teacher_cosines(name: str, rows: Sequence[Row], encoders: dict[str, TeacherEncoder]) -> list[list[float]]:
    """Each row's teacher: 1 for the caption, then its negatives; "truth" knows which of them are true."""
    if name == "truth":
        return [[1.0, *map(float, row["true"])] for row in rows]
    if name == "lsa":
        captions: dict[int, list[str]] = {}
        for row in rows:
            captions.setdefault(row["clip"], []).append(row["caption"])
        return cosines(LatentSemantics.fit([list(dict.fromkeys(texts)) for texts in captions.values()]), rows)
    return cosines(encoders[name], rows)


class Words:
    """Captions as the text side of `Pairs` takes them: token ids, or what a frozen tower says, once a caption."""

    def __init__(self, tokenizer: Tokenizer, tower: Pairs | None) -> None:
        self._tokenizer, self._tower = tokenizer, tower
        self._places: dict[str, int] = {}
        self._outputs = torch.zeros(0)

    def __call__(self, texts: Sequence[str]) -> dict[str, torch.Tensor] | torch.Tensor:
        """Padded tokens, or float[M, H]."""
        if self._tower is None:
            return self._tokens(texts)
        self.meet(texts)
        return self._outputs[[self._places[text] for text in texts]]

    def meet(self, texts: Iterable[str]) -> None:
        """Runs the frozen tower on captions that are new."""
        new = sorted({text for text in texts if text not in self._places}, key=len)
        if self._tower is None or not new:
            return
        with torch.no_grad():
            parts = [self._tower.text_tower(self._tokens(new[n : n + 256])) for n in range(0, len(new), 256)]
        self._places |= {text: len(self._places) + n for n, text in enumerate(new)}
        self._outputs = torch.cat([self._outputs, *parts] if len(self._outputs) else parts)

    def _tokens(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        return dict(self._tokenizer(list(texts), padding=True, return_tensors="pt"))


def fitted(arm: Arm, rows: Sequence[Row], videos: torch.Tensor, *, words: Words, freeze: str, seed: int) -> Pairs:
    """The checkpoint trained on the rows; `row["teacher"]` holds the teacher's cosines."""
    torch.manual_seed(seed)
    pairs = Pairs(load_checkpoint("temporal-plain")[0], freeze)
    pairs.train()
    words.meet(text for row in rows for text in (row["caption"], *row["negatives"]))
    learning = [p for p in pairs.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=RATE, betas=(0.9, 0.98), weight_decay=0.02)
    total, step = EPOCHS * -(-len(rows) // BATCH), 0
    for epoch in range(EPOCHS):
        order = stream("soft labels", "order", seed, epoch).permutation(len(rows))
        for begin in range(0, len(rows), BATCH):
            picked = [rows[int(n)] for n in order[begin : begin + BATCH]]
            texts = [row["caption"] for row in picked]
            texts += dict.fromkeys(text for row in picked for text in row["negatives"])
            places = {text: n for n, text in enumerate(texts)}
            own = _padded([[n, *(places[text] for text in row["negatives"])] for n, row in enumerate(picked)])
            mask = _padded([[1] * (1 + len(row["negatives"])) for row in picked]).bool()
            clips = torch.tensor([row["clip"] for row in picked])
            captions = np.array([row["caption"] for row in picked])
            same = torch.from_numpy(captions[:, None] == captions) | (clips[:, None] == clips)
            shown, read_as = pairs.videos(videos[clips]), pairs.texts(words(texts))
            similar, square = pairs.join(shown, read_as[own]), pairs.join(shown, read_as[: len(picked)])
            if arm.teacher is None:
                loss = label_loss(similar, arm.temperature, mask)
            else:
                target = _padded([row["teacher"] for row in picked])
                loss = logit_loss(similar, target, arm.temperature, arm.teacher_temperature, mask=mask)
            loss = loss + arm.weight * contrast_loss(square, arm.temperature, same)
            rate = RATE * min(1.0, (step + 1) / (0.05 * total)) * (0.505 + 0.495 * np.cos(np.pi * step / total))
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimizer.step()
            step += 1
    pairs.eval()
    return pairs


def _padded(rows: Sequence[Sequence[float]]) -> torch.Tensor:
    """One row each, filled up with zeros: a transitive action has fewer others."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not followed
def embedded(
    pairs: Pairs, videos: torch.Tensor, texts: Iterable[str], words: Words
) -> tuple[torch.Tensor, torch.Tensor]:
    """float[clips, D] and float[texts, D], of length 1."""
    ordered = list(texts)
    rows = [pairs.texts(words(ordered[n : n + 256])) for n in range(0, len(ordered), 256)]
    clips = [pairs.videos(videos[n : n + 256]) for n in range(0, len(videos), 256)]
    return torch.cat(clips), torch.cat(rows)


def right(scores: np.ndarray) -> np.ndarray:
    """float[clips]: 1 where the first candidate is above all others, half where it shares the first place."""
    best = scores[:, 1:].max(1)
    return np.asarray((scores[:, 0] > best) + 0.5 * (scores[:, 0] == best))


def answers(pairs: Pairs, clips: Clips, words: Words, gallery: int) -> dict[str, list[float]]:
    """Per question: right among the six; and per clip of a gallery: its caption above all others, in either wording."""
    distinct = sorted({text for candidates in clips.candidates for text in candidates}, key=len)
    places = {text: n for n, text in enumerate(distinct)}
    videos, texts = embedded(pairs, clips.features, distinct, words)
    own = torch.tensor([[places[text] for text in candidates] for candidates in clips.candidates])
    hits = {"rcad": right(torch.einsum("bd,bmd->bm", videos, texts[own]).numpy())}
    if gallery:
        captions = [write(claim(scene), phrase=n % 2) for n, scene in enumerate(clips.scenes[:gallery])]
        videos, texts = embedded(pairs, clips.features[:gallery], captions, words)
        scores = (videos @ texts.T).numpy()
        equal = np.array(captions)[:, None] == np.array(captions)
        hits["retrieval"] = right(np.concatenate([scores.diagonal()[:, None], np.where(equal, -2.0, scores)], 1))
    return {name: values.tolist() for name, values in hits.items()}


class Experiment:
    """Trains arms, keeps their answers, and never trains the same twice."""

    def __init__(self, output: Path, size: dict[str, int], freeze: str, encoders: dict[str, TeacherEncoder]) -> None:
        net, processor, _ = load_checkpoint("temporal-plain")
        tower = Pairs(net, freeze).eval()
        self.words = Words(processor.tokenizer, tower if freeze == "both" else None)
        self.output, self.encoders, self.freeze = output, encoders, freeze
        self.train = list(scenes(DATA_SEED, "train", size["train"]))
        self.videos = self._features("train", tower, self.train)
        self.parts = {}
        for split in ("validation", "test"):
            shown, candidates = with_questions(split, size[split])
            self.parts[split] = Clips(shown, self._features(split, tower, shown), candidates)
        self.size = size
        self.last: tuple[str, list[Row], dict[str, list[list[float]]]] = ("", [], {})  # corpus, teachers

    def _features(self, split: str, tower: Pairs, clips: Sequence[Scene]) -> torch.Tensor:
        path = self.output / f"frames-{split}-{len(clips)}.npy"
        if not path.exists():
            np.save(path, features(tower, clips).numpy())
        return torch.from_numpy(np.load(path))

    def answers(self, name: str, arm: Arm, split: str, seed: int) -> dict[str, list[float]]:
        """The answers of an arm trained on the corpus called `name`, from the output folder where they are known."""
        settings = {
            "corpus": name,
            **asdict(arm),
            "split": split,
            "epochs": EPOCHS,
            "seed": seed,
            "freeze": self.freeze,
            **self.size,
        }
        path = self.output / f"{digest(str(sorted(settings.items()))).hex()[:16]}.json"
        if path.exists():
            return dict(read_json(path)["answers"])
        begin = time.process_time()
        both, true_negatives = CORPORA[name]
        if self.last[0] != name:
            self.last = name, corpus(self.train, both, true_negatives), {}
        _, rows, teachers = self.last
        if arm.teacher is not None:
            if arm.teacher not in teachers:
                teachers[arm.teacher] = teacher_cosines(arm.teacher, rows, self.encoders)
            rows = [{**row, "teacher": values} for row, values in zip(rows, teachers[arm.teacher], strict=True)]
        pairs = fitted(arm, rows, self.videos, words=self.words, freeze=self.freeze, seed=seed)
        hits = answers(pairs, self.parts[split], self.words, self.size["gallery"] if split == "test" else 0)
        write_json(path, {"settings": settings, "answers": hits})
        print(f"{name}, {arm}, seed {seed}, {split}: {np.mean(hits['rcad']):.3f} "
              f"({time.process_time() - begin:.0f} s of CPU)", flush=True)  # fmt: skip
        return hits

    def best_arm(self, name: str, teacher: str | None) -> Arm:
        """The arm's temperatures and weight: one after the other, the best on validation."""

        def best(arms: Sequence[Arm]) -> Arm:
            return max(arms, key=lambda arm: float(np.mean(
                self.answers(name, arm, "validation", CHOICE_SEED)["rcad"])))  # fmt: skip

        arm = Arm(teacher)
        if teacher is not None:
            arm = best([replace(arm, teacher_temperature=value) for value in TEACHER_TEMPERATURES])
        arm = best([replace(arm, temperature=value) for value in TEMPERATURES])
        return best([replace(arm, weight=value) for value in WEIGHTS])


def table(results: dict[str, dict[str, tuple[Arm, list[dict[str, list[float]]]]]]) -> Iterator[str]:
    """Markdown: means over the seeds, and each teacher's difference from labels with its interval over clips."""
    yield "| corpus | arm | teacher's tau, tau, weight | RCAD R@1 | minus lbl | by seed | retrieval R@1 | minus lbl |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, arms in results.items():
        labels = arms["lbl"][1]
        for title, (arm, runs) in arms.items():
            cells = [name, title, f"{arm.teacher_temperature if arm.teacher else '-'}, {arm.temperature}, {arm.weight}"]
            for key in ("rcad", "retrieval"):
                own, other = (np.array([run[key] for run in part]) for part in (runs, labels))
                cells.append(f"{own.mean():.3f}")
                if arm.teacher is None:
                    cells += ["", ""] if key == "rcad" else [""]
                    continue
                difference = (own - other).mean(0)
                interval = cluster_bootstrap(difference)
                half = (interval.high - interval.low) / 2
                cells.append(f"{interval.estimate:+.3f} ± {half:.3f}" if difference.any() else "the same")
                if key == "rcad":
                    cells.append(", ".join(f"{value:+.3f}" for value in (own - other).mean(1)))
            yield "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--output", type=Path, help="folder of what was trained, which is not trained again")
    parser.add_argument("--encoder", help="a sentence encoder as one more teacher")
    parser.add_argument("--train", type=int, help="clips; default: 1,000")
    parser.add_argument("--validation", type=int, help="clips; default: 600")
    parser.add_argument("--test", type=int, help="clips; default: 3,000")
    parser.add_argument("--gallery", type=int, help="clips; default: 1,000")
    parser.add_argument("--freeze", choices=("vision", "both"), default="vision", help="towers that do not learn")
    arguments = parser.parse_args()
    if arguments.output is None:
        print("few clips, one corpus and one seed, which say nothing of the losses: --output FOLDER runs all of it")
        with tempfile.TemporaryDirectory() as folder:
            run(arguments, Path(folder), SMALL, corpora=["paraphrases"], seeds=SEEDS[:1])
    else:
        run(arguments, arguments.output, SIZES, corpora=list(CORPORA), seeds=SEEDS)


def run(
    arguments: argparse.Namespace, output: Path, sizes: dict[str, int], *, corpora: Sequence[str], seeds: Sequence[int]
) -> None:
    """Trains what has not been trained, and prints the table."""
    torch.set_num_threads(1)
    encoders = {"encoder": load_encoder(arguments.encoder, [])} if arguments.encoder else {}
    output.mkdir(parents=True, exist_ok=True)
    size = {name: getattr(arguments, name) or usual for name, usual in sizes.items()}
    experiment = Experiment(output, size, arguments.freeze, encoders)
    teachers: dict[str, str | None] = {"lbl": None, "lgt, lsa": "lsa"}
    teachers |= {"lgt, encoder": "encoder"} if encoders else {}
    results: dict[str, dict[str, tuple[Arm, list[dict[str, list[float]]]]]] = {}
    for name in corpora:
        arms = {title: experiment.best_arm(name, teacher) for title, teacher in teachers.items()}
        arms["lgt, truth"] = replace(arms["lbl"], teacher="truth")
        runs: dict[str, list[dict[str, list[float]]]] = {title: [] for title in arms}
        for seed, title in product(seeds, arms):
            runs[title].append(experiment.answers(name, arms[title], "test", seed))
        results[name] = {title: (arms[title], runs[title]) for title in arms}
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
