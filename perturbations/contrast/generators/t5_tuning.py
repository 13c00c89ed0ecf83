"""Fine-tunes T5 to fill in the verb phrases of training captions (paper, 3.2): so that fillings sound like captions.

The captions' verb phrases are the denoising spans: the input is a caption with its phrase masked by a sentinel, the
target is the phrase between sentinels. The paper gives no settings; ours are in the record beside the model.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, read_json, write_json
from video_contrast.launcher import noticing_an_end, on_cpu
from video_contrast.options import Seed
from video_contrast.perturbations.contrast.generators.t5 import END, SENTINEL
from video_contrast.perturbations.contrast.slots import verb_slots
from video_contrast.perturbations.english import PARSER, parse
from video_contrast.pretrained import load
from video_contrast.seeds import digest, stream
from video_contrast.untyped import Tensor, Tokenizer

RECORD = "tuning.json"
_CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class Tuning:
    """Settings of a run: what the result depends on, but for the captions."""

    model: Annotated[str, "T5 checkpoint to start from: a Hub id or a folder"] = "google-t5/t5-base"
    epochs: Annotated[int, "times each caption is seen"] = 1
    batch_size: Annotated[int, "captions a step, over all processes"] = 32
    learning_rate: Annotated[float, "at the first step; falls to a tenth"] = 3e-4
    seed: Seed = 0


def tune_t5(
    captions: Sequence[str],
    output: str | os.PathLike[str],
    tuning: Tuning | None = None,
    *,
    save_every: int = 500,
    num_proc: int = 1,
    stop_after: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> JsonObject:
    """Trains, and writes model, tokenizer and record into `output`. Run again, it goes on at the last checkpoint.

    Runs on the devices that accelerate sees; under `torchrun` or `accelerate launch` the batch is shared out.

    Args:
        captions: training captions; those without a verb phrase are left out, and counted in the record.
        output: a folder; a finished run there is returned as it is.
        tuning: the settings; defaults as of `Tuning`.
        save_every: optimizer steps between checkpoints.
        num_proc: processes for tagging.
        stop_after: stop after so many steps of this call, with a checkpoint (the rest is for the next call).
        say: takes lines about the progress.

    Returns:
        The record: settings, parser, captions used, steps, whether finished, mean loss of the last steps.

    Raises:
        UsageError: a setting out of range, or the folder holds a run with other settings or captions.
        VideoContrastError: the model is absent, or no caption has a verb phrase.
    """
    tuning = tuning or Tuning()
    if min(tuning.epochs, tuning.batch_size, save_every) < 1 or tuning.learning_rate <= 0:
        raise UsageError("epochs, batch_size and save_every must be at least 1 and learning_rate above 0")
    root = Path(output)
    texts = sorted(set(captions))
    identity = asdict(tuning) | {"captions": _fingerprint(texts), "parser": PARSER}
    before = _former(root, identity)
    if before and before["finished"]:
        return before
    examples = _examples(texts, tuning, num_proc)
    if not examples:
        raise VideoContrastError(f"none of the {len(texts)} captions has a verb phrase to learn")
    with noticing_an_end():
        run = _Run(root, tuning, examples)
        steps = run.steps_per_epoch * tuning.epochs
        done = run.resume()
        last = steps if stop_after is None else min(steps, done + stop_after)
        losses: list[float] = []
        for step in range(done, last):
            losses.append(run.step(step))
            if (step + 1) % save_every == 0 or step + 1 == last:
                run.save_checkpoint(step + 1)
                record = identity | {
                    "captions_used": len(examples), "captions_without_verb": len(texts) - len(examples),
                    "steps": step + 1, "of_steps": steps, "finished": False,
                    "loss": sum(losses[-save_every:]) / len(losses[-save_every:]),
                }  # fmt: skip
                run.write_record(record)
                if run.is_main:
                    say(f"step {step + 1} of {steps}: loss {record['loss']:.3f}")
        if last == steps:
            record = dict(read_json(root / RECORD)) | {"finished": True}
            run.finish(record)
    return dict(read_json(root / RECORD))


def _fingerprint(texts: Sequence[str]) -> str:
    hashed = blake2b(digest_size=16)
    for text in texts:
        hashed.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()


def _former(root: Path, identity: JsonObject) -> JsonObject | None:
    """The record in the folder, which must be of the same run."""
    if not (root / RECORD).is_file():
        return None
    record = dict(read_json(root / RECORD))
    other = [name for name, value in identity.items() if record.get(name) != value]
    if other:
        raise UsageError(
            f"{root} holds a run with other {', '.join(other)}: choose another output folder, or remove this one"
        )
    return record


def _examples(texts: Sequence[str], tuning: Tuning, num_proc: int) -> list[tuple[str, str]]:
    """(masked caption, target) for each caption with a verb that can be replaced; of several the seed draws one."""
    examples = []
    for text, sentence in zip(texts, parse(texts, num_proc=num_proc), strict=True):
        slots = [slot for slot in verb_slots(sentence) if slot.rejection_reason is None]
        if slots:
            slot = slots[int(stream(tuning.seed, "tune-t5", "verb", text).integers(len(slots)))]
            masked = text[: slot.start] + SENTINEL + text[slot.end :]
            examples.append((masked, f"{SENTINEL} {text[slot.start : slot.end]} {END}"))
    return examples


class _Run:
    """Model, optimizer and the order of the examples, on this process's share of each batch."""

    def __init__(self, root: Path, tuning: Tuning, examples: list[tuple[str, str]]) -> None:
        import torch
        from accelerate import Accelerator
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        torch.manual_seed(int.from_bytes(digest(tuning.seed, "tune-t5", "dropout")[:6], "little"))
        self._root, self._tuning, self._examples = root, tuning, examples
        self.steps_per_epoch = -(-len(examples) // tuning.batch_size)
        self._accelerator = Accelerator(cpu=on_cpu())
        self._tokenizer: Tokenizer = load(tuning.model, AutoTokenizer, "--model")
        model = load(tuning.model, AutoModelForSeq2SeqLM, "--model")
        optimizer = torch.optim.AdamW(model.parameters(), lr=tuning.learning_rate)
        self._model, self._optimizer = self._accelerator.prepare(model.train(), optimizer)

    @property
    def is_main(self) -> bool:
        """Whether this process speaks and writes."""
        return bool(self._accelerator.is_main_process)

    def step(self, number: int) -> float:
        """One optimizer step on batch `number`; the rate falls linearly to a tenth."""
        epoch, batch = divmod(number, self.steps_per_epoch)
        order = stream(self._tuning.seed, "tune-t5", "order", epoch).permutation(len(self._examples))
        size, world = self._tuning.batch_size, self._accelerator.num_processes
        rows = order[batch * size : (batch + 1) * size]
        # Every rank needs an example, or the others would wait for its gradients for ever.
        own = rows[self._accelerator.process_index % len(rows) :: world]
        share = number / (self.steps_per_epoch * self._tuning.epochs)
        for group in self._optimizer.param_groups:
            group["lr"] = self._tuning.learning_rate * (1 - 0.9 * share)
        inputs, labels = self._encode([self._examples[n] for n in own])
        loss = self._model(**inputs, labels=labels).loss
        self._accelerator.backward(loss)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(self._accelerator.reduce(loss.detach(), reduction="mean"))

    def _encode(self, examples: list[tuple[str, str]]) -> tuple[dict[str, Tensor], Tensor]:
        sources, targets = [source for source, _ in examples], [target for _, target in examples]
        device = self._accelerator.device
        inputs = self._tokenizer(sources, padding=True, truncation=True, return_tensors="pt").to(device)
        labels = self._tokenizer(targets, padding=True, truncation=True, return_tensors="pt")["input_ids"].to(device)
        inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        return inputs, labels.masked_fill(labels == self._tokenizer.pad_token_id, -100)

    def resume(self) -> int:
        """Loads the last checkpoint; returns the steps that it has behind it."""
        for place in (self._root / f"{_CHECKPOINT}.new", self._root / _CHECKPOINT):
            if (place / "step.json").is_file():  # written last: the folder is whole
                self._accelerator.load_state(str(place))
                return int(read_json(place / "step.json")["step"])
        return 0

    def save_checkpoint(self, step: int) -> None:
        """Writes beside the old checkpoint and takes its place when whole."""
        new, place = self._root / f"{_CHECKPOINT}.new", self._root / _CHECKPOINT
        if self.is_main:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
        self._accelerator.wait_for_everyone()
        self._accelerator.save_state(str(new))
        self._accelerator.wait_for_everyone()
        if self.is_main:
            (new / "step.json").write_text(json.dumps({"step": step}), encoding="utf-8")
            shutil.rmtree(place, ignore_errors=True)
            new.rename(place)
        self._accelerator.wait_for_everyone()

    def write_record(self, record: JsonObject) -> None:
        """The record, by the main process."""
        if self.is_main:
            write_json(self._root / RECORD, record)
        self._accelerator.wait_for_everyone()

    def finish(self, record: JsonObject) -> None:
        """Writes model and tokenizer, then the record, and removes the checkpoint."""
        if self.is_main:
            self._accelerator.unwrap_model(self._model).eval().save_pretrained(self._root)
            self._tokenizer.save_pretrained(self._root)
            write_json(self._root / RECORD, record)
            for name in (_CHECKPOINT, f"{_CHECKPOINT}.new"):
                shutil.rmtree(self._root / name, ignore_errors=True)
        self._accelerator.wait_for_everyone()
