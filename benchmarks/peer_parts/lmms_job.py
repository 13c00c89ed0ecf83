"""The work of `benchmarks/peers.py` in lmms-eval: multiple choice by letter, a task of local files a condition.

Run by the Python of lmms-eval's environment, with a JSON file that says where clips, candidates and the checkpoint
are. What stands between the marks is what a user has to write to score a Qwen2.5-VL checkpoint on items of their own.
"""

import json
import sys
from pathlib import Path
from typing import Any

COUNTS = {"frames_decoded": 0, "visual_encodings": 0, "text_encodings": 0}

# user: begin
import torch  # noqa: E402
from lmms_eval.evaluator import simple_evaluate  # noqa: E402
from lmms_eval.models.simple.qwen2_5_vl import Qwen2_5_VL  # noqa: E402
from lmms_eval.tasks import TaskManager  # noqa: E402

TASK = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {rows}
test_split: test
output_type: generate_until
doc_to_visual: !function functions.visual
doc_to_text: !function functions.text
doc_to_target: answer
process_results: !function functions.results
generation_kwargs:
  max_new_tokens: 1
  temperature: 0
metric_list:
  - metric: accuracy
    aggregation: mean
    higher_is_better: true
  - metric: letter
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1
"""
FUNCTIONS = """
def visual(doc):
    return [doc["video"]]


def text(doc, lmms_eval_specific_kwargs=None):
    options = [f"{letter}. {caption}" for letter, caption in zip("ABCDEFGH", doc["candidates"])]
    return "\\n".join(["Which caption describes the video?", *options, "Answer with the letter of the one that fits."])


def results(doc, answers):
    answer = answers[0].strip()[:1]
    return {"accuracy": float(answer == doc["answer"]), "letter": float(answer in "ABCDEFGH" and answer != "")}
"""


def score(job: dict[str, Any], folder: Path) -> dict[str, dict[str, float]]:  # JSON
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "functions.py").write_text(FUNCTIONS)
    for name, rows in job["conditions"].items():
        lines = [json.dumps(row | {"answer": "ABCDEFGH"[row["label"]]}) for row in rows["choice"]]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
        (folder / f"{name}.yaml").write_text(TASK.format(name=f"local_{name}", rows=folder / f"{name}.jsonl"))
    model = Qwen2_5_VL(job["checkpoint"], device="cpu", device_map="cpu", batch_size=1, max_num_frames=job["frames"])
    counted(model)
    tasks = [f"local_{name}" for name in job["conditions"]]
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    evaluated = simple_evaluate(model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, log_samples=False)
    return {name: evaluated["results"][f"local_{name}"] for name in job["conditions"]}


# user: end


def counted(model: Qwen2_5_VL) -> None:
    """Counts what goes through the vision tower and the frames that decord is asked for."""
    import decord

    def encoded(*_: object) -> None:
        COUNTS["visual_encodings"] += 1
        COUNTS["text_encodings"] += 1

    model._model.model.visual.register_forward_hook(encoded)
    plain = decord.VideoReader.get_batch

    def get_batch(self: decord.VideoReader, indices: list[int]) -> object:
        COUNTS["frames_decoded"] += max(indices) + 1  # one group of pictures a clip: all up to the last one
        return plain(self, indices)

    decord.VideoReader.get_batch = get_batch


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    scored = score(job, Path(sys.argv[2]).with_suffix(""))
    keep = {name: {"accuracy": own["accuracy,none"]} for name, own in scored.items()}
    letters = sum(own["letter,none"] for own in scored.values()) / len(scored)
    answer = {"scores": keep, "counts": COUNTS, "letters": letters}
    Path(sys.argv[2]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
