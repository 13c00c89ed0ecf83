"""The same work in MTEB and in lmms-eval: CPU seconds, memory, frames decoded, encodings, and what a user writes.

    python benchmarks/peers.py --environments PEERS           makes PEERS/mteb and PEERS/lmms from the package index
    python benchmarks/peers.py --environments PEERS --only mteb --clips 20

Every harness gets the same checkpoint, clips, captions and number of frames: text to video and video to text (MTEB:
retrieval), captions that are true or not (MTEB: pair classification) and multiple choice by letter (lmms-eval, with a
tiny Qwen2.5-VL of random weights). First the clips as they are, then ten conditions: for the peers, which perturb no
videos, the nine perturbed ones are written to lossless files before, at a cost that is shown apart. Every run is a
process of its own on one thread; seconds are CPU seconds of whole processes, imports included, medians of `--repeats`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
from parts.command_line import parser_of

from video_contrast.rows import MultipleChoiceRow, RetrievalRow
from video_contrast.storage import RunFolder, open_run

HERE = Path(__file__).resolve().parent
SUPPORT = HERE.parent / "tests" / "support"
PERTURBED = (
    "gaussian_noise", "impulse_noise", "shot_noise", "motion_blur", "zoom_blur", "jpeg", "static_rotate", "rotate",
    "jumble",
)  # fmt: skip
SEVERITY, FRAMES = 3, 8


class Rows(TypedDict):
    """What is scored."""

    search: list[RetrievalRow]
    choice: list[MultipleChoiceRow]


Files = dict[str, dict[str, str]]  # condition -> path of a clip -> the file that shows it so
# name -> what goes into its environment; the second list without its dependencies, as its wheel is a CUDA build
PACKAGES = {
    "mteb": (["mteb==2.26.24", "torch==2.13.0", "transformers==5.23.0", "av", "pillow"], ["torchvision==0.28.0"]),
    "lmms": (
        ["lmms-eval==0.7.3", "torch==2.13.0", "transformers==5.23.0", "av", "accelerate", "qwen-vl-utils"],
        ["torchvision==0.28.0", "decord==0.6.0"],
    ),
}
QUIET = {
    "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
}  # fmt: skip


@dataclass
class Cost:
    """What one process cost, over its repeats.

    Attributes:
        seconds: CPU seconds, one a repeat.
        memory: largest resident size, in MB.
        counts: frames decoded, visual and text encodings.
        scores: condition -> name of a metric -> its value.
    """

    seconds: list[float] = field(default_factory=list)
    memory: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Of the CPU seconds."""
        return statistics.median(self.seconds)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--environments", type=Path, help="folder of the peers' environments")
    parser.add_argument("--only", choices=PACKAGES, help="one peer")
    parser.add_argument("--clips", type=int, default=60, help="of the shapes world [default: 60]")
    parser.add_argument("--repeats", type=int, default=3, help="runs whose median is printed [default: 3]")
    options = parser.parse_args()
    if options.environments is None:
        print("left out: give --environments PEERS; the first run installs the peers there (gigabytes)")
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        rows = make_set(work / "set", options.clips)
        began = time.process_time()
        files = write_perturbed(work / "set", rows)
        spent = time.process_time() - began
        print(f"{options.clips} clips; nine perturbed copies of each, written for the peers: {spent:.1f} CPU s\n")
        for peer in [options.only] if options.only else list(PACKAGES):
            python = environment(options.environments, peer)
            compare(peer, python, work, rows, files=files, repeats=options.repeats)


def environment(folder: Path, peer: str) -> Path:
    """The Python of a peer's environment, which is made if it is not there."""
    python = folder / peer / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
        needed, alone = PACKAGES[peer]
        for packages in (needed, ["--no-deps", *alone]):
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def make_set(folder: Path, clips: int) -> Rows:
    """The first clips of the shapes world with their captions, and the first items."""
    import video_contrast

    video_contrast.build("shapes", ["retrieval", "verb_mc"], output=folder)
    opened = video_contrast.open_set(folder)
    search, choice = opened.retrieval_rows("retrieval", "test"), opened.choice_rows("verb_mc", "test")
    return {"search": search[:clips], "choice": choice[:clips]}


def write_perturbed(root: Path, rows: Rows) -> Files:
    """Writes what the peers read under nine perturbations, and returns the files of every condition."""
    from video_contrast.perturbations.video import VideoCondition
    from video_contrast.perturbations.video.files import write_perturbed
    from video_contrast.video import Clip

    conditions = [VideoCondition(name, SEVERITY) for name in PERTURBED]
    files: Files = {name: {} for name in ("clean", *PERTURBED)}
    for row in (*rows["search"], *rows["choice"]):
        source = root / row["video_path"]
        clip = Clip(row["video_id"], row["video_path"])
        names = write_perturbed(source, clip, conditions, root / "perturbed", quality="lossless")
        written = [source, *(root / "perturbed" / name for name in names)]
        for of_condition, file in zip(files.values(), written, strict=True):
            of_condition[row["video_path"]] = str(file)
    return files


def compare(peer: str, python: Path, work: Path, rows: Rows, *, files: Files, repeats: int) -> None:
    """Runs a peer and the package in turn, and prints a table and how far the scores are apart."""
    checkpoint = checkpoint_of(peer, work)
    print(f"| {peer} | conditions | CPU s | from to | peak MB | frames decoded | video encodings | text encodings |")
    print("|---|---|---|---|---|---|---|---|")
    for names in ((), PERTURBED):
        jobs = {"ours": Cost(), peer: Cost()}
        for _ in range(repeats):
            run_ours(jobs["ours"], peer, work, checkpoint, names=names, limit=len(rows["search"]))
            run_peer(jobs[peer], peer, python, work, job_of(rows, files, checkpoint, names=names))
        for label, cost in (("video-contrast", jobs["ours"]), (peer, jobs[peer])):
            spread = f"{min(cost.seconds):.1f} {max(cost.seconds):.1f}"
            counts = " | ".join(
                str(cost.counts.get(n, "")) for n in ("frames_decoded", "visual_encodings", "text_encodings")
            )
            print(f"| {label} | {len(names) + 1} | {cost.median:.1f} | {spread} | {cost.memory:.0f} | {counts} |")
        ratio = jobs[peer].median / jobs["ours"].median
        print(f"| ratio | {len(names) + 1} | {ratio:.1f} | | | | | |", flush=True)
        both = [(c, m) for c, own in jobs[peer].scores.items() for m in own]
        apart = [abs(jobs["ours"].scores[c][m] - jobs[peer].scores[c][m]) for c, m in both]
        print(f"| largest difference of {len(apart)} scores | {len(names) + 1} | {max(apart):.4f} | | | | | |")
    print(f"\nWritten by the user: {lines(HERE / 'peer_parts' / f'{peer}_job.py')} lines for {peer}, 1 for ours\n")


def checkpoint_of(peer: str, work: Path) -> Path:
    if peer == "mteb":
        from video_contrast.checkpoints import checkpoint_path

        return checkpoint_path("bag-of-frames")
    sys.path.insert(0, str(SUPPORT))
    from tiny_qwen import qwen2_5_vl

    return cast(Path, qwen2_5_vl(work / "qwen2_5_vl"))


def job_of(rows: Rows, files: Files, checkpoint: Path, *, names: Sequence[str]) -> dict[str, object]:
    """What a peer's script is told: the checkpoint, and the videos and texts of every condition."""
    conditions = {}
    for name in ("clean", *names):
        video = files[name]
        search, choice = rows["search"], rows["choice"]
        conditions[name] = {
            "search": {
                "text": [row["captions"] for row in search],
                "video": [video[row["video_path"]] for row in search],
            },
            "pairs": {
                "video": [video[row["video_path"]] for row in choice for _ in row["candidates"]],
                "text": [text for row in choice for text in row["candidates"]],
                "label": [int(n == row["label"]) for row in choice for n in range(len(row["candidates"]))],
            },
            "choice": [
                {"video": video[row["video_path"]], "candidates": row["candidates"], "label": row["label"]}
                for row in choice
            ],
        }
    return {"checkpoint": str(checkpoint), "frames": FRAMES, "conditions": conditions}


def run_peer(cost: Cost, peer: str, python: Path, work: Path, job: Mapping[str, object]) -> None:
    """Runs a peer's script in its environment, once."""
    job_file, answer_file = work / "job.json", work / "answer.json"
    job_file.write_text(json.dumps(job), encoding="utf-8")
    command = [python, HERE / "peer_parts" / f"{peer}_job.py", job_file, answer_file]
    measured(cost, [str(part) for part in command], work, {"PYTHONPATH": str(SUPPORT / "torchvision_shim")})
    answer = json.loads(answer_file.read_text(encoding="utf-8"))
    cost.counts, cost.scores = answer["counts"], answer["scores"]


def run_ours(cost: Cost, peer: str, work: Path, checkpoint: Path, *, names: Sequence[str], limit: int) -> None:
    """Scores the same with the package, once, into a new folder."""
    output = work / f"ours-{peer}-{len(names)}-{len(cost.seconds)}"
    conditions = ",".join(["clean", *(f"visual:{name}@{SEVERITY}" for name in names)])
    configs = ["--config", "verb_mc", *(["--config", "retrieval"] if peer == "mteb" else ["--scoring", "letter"])]
    command = [
        sys.executable, "-m", "video_contrast", "score", "--model", str(checkpoint), "--dataset", str(work / "set"),
        *configs, "--conditions", conditions, "--frames", str(FRAMES), "--sampling", "linspace", "--workers", "1",
        "--output", str(output), "--store", str(output / "store"), "--accept", "all", "--quiet",
        "--limit", str(limit),
    ]  # fmt: skip
    measured(cost, command, work, {})
    run = open_run(output)
    cost.counts = dict(run.record["counters"])
    cost.scores = {name: ours(run, f"visual:{name}@{SEVERITY}", peer) for name in names}
    cost.scores["clean"] = ours(run, "clean", peer)


def ours(run: RunFolder, condition: str, peer: str) -> dict[str, float]:
    """The figures that the peer reports, from the scores of a run."""
    table = run.scores()
    table = table[(table.config == "verb_mc") & (table.condition == condition)]
    labels = [int(n == label) for label, own in zip(table.label, table.scores, strict=True) for n in range(len(own))]
    if peer == "lmms":
        return {
            "accuracy": float(np.mean([np.argmax(own) == y for own, y in zip(table.scores, table.label, strict=True)]))
        }
    values = run.matrix("retrieval", condition).values
    captions = values.shape[1] // len(values)  # a clip
    clips = np.arange(len(values))
    from sklearn.metrics import average_precision_score

    return {
        "t2v_r1": float((values.argmax(0) == clips.repeat(captions)).mean()),
        "v2t_r1": float((values.argmax(1) // captions == clips).mean()),
        "pairs_ap": float(average_precision_score(labels, np.concatenate(list(table.scores)))),
    }


def lines(script: Path) -> int:
    """Lines of code between the marks of what a user writes."""
    text = script.read_text(encoding="utf-8").split("# user: begin")[1].split("# user: end")[0]
    return sum(bool(line.strip()) and not line.strip().startswith(('"""', "#")) for line in text.splitlines())


def measured(cost: Cost, command: Sequence[str], work: Path, more: Mapping[str, str]) -> None:
    """Runs a command and adds its CPU seconds and memory; its last words are shown where it fails."""
    environment = {**os.environ, **QUIET, "HF_HOME": str(work / "hf"), **more}
    with open(work / "log.txt", "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=work)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{(work / 'log.txt').read_text(encoding='utf-8')[-3000:]}")
    cost.seconds.append(used.ru_utime + used.ru_stime)
    cost.memory = max(cost.memory, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
