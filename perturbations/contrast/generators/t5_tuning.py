"""Fine-tunes T5 to fill in the verb phrases of training captions (paper, 3.2): so that fillings sound like captions.

The captions' verb phrases are the denoising spans: the input is a caption with its phrase masked by a sentinel, the
target is the phrase between sentinels. The paper gives no settings; ours are in the record beside the model.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, read_json, write_json
from video_contrast.launcher import noticing_an_end, on_cpu
from video_contrast.options import Seed
from video_contrast.perturbations.contrast.generators.t5 import END, SENTINEL
from video_contrast.perturbations.contrast.slots import verb_slots
from video_contrast.perturbations.english import PARSER, parse
from video_contrast.pretrained import load
from video_contrast.seeds import digest, stream

RECORD = "tuning.json"
_CHECKPOINTS = "checkpoints"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Tuning:
    """Settings of a run: what the result depends on, but for the captions."""

    model: Annotated[str, "T5 checkpoint to start from: a Hub id or a folder"] = "google-t5/t5-base"
    epochs: Annotated[int, "times each caption is seen"] = 1
    batch_size: Annotated[int, "captions a step, over all processes"] = 32
    learning_rate: Annotated[float, "at the first step; falls to 0"] = 3e-4
    seed: Seed = 0


def tune_t5(
    captions: Sequence[str],
    output: str | os.PathLike[str],
    tuning: Tuning | None = None,
    *,
    save_every: int = 500,
    num_proc: int = 1,
    stop_after: int | None = None,
    say: Say = lambda line: None,
) -> JsonObject:
    """Trains, and writes model, tokenizer and record into `output`. Run again, it goes on at the last checkpoint.

    Runs on the devices that accelerate sees; under `torchrun` or `accelerate launch` the batch is shared out. Returns
    the record: settings, parser, captions used, steps, whether finished, mean loss of the last steps. Raises
    UsageError: a setting out of range, or the folder holds a run with other settings or captions; VideoContrastError:
    the model is absent, or no caption has a verb phrase.

    Args:
        captions: training captions; those without a verb phrase are left out, and counted in the record.
        output: a folder; a finished run there is returned as it is.
        tuning: the settings; defaults as of `Tuning`.
        stop_after: stop after so many steps of this call, with a checkpoint (the rest is for the next call).
    """
    tuning = tuning or Tuning()
    if min(tuning.epochs, tuning.batch_size, save_every) < 1 or tuning.learning_rate <= 0:
        raise UsageError("epochs, batch_size and save_every must be at least 1 and learning_rate above 0")
    root = Path(output)
    texts = sorted(set(captions))
    digest_of_texts = blake2b(b"".join(text.encode("utf-8", "surrogatepass") + b"\0" for text in texts), digest_size=16)
    identity = asdict(tuning) | {"captions": digest_of_texts.hexdigest(), "parser": PARSER}
    if (root / RECORD).is_file():
        record = dict(read_json(root / RECORD))
        other = [name for name, value in identity.items() if record.get(name) != value]
        if other:
            raise UsageError(
                f"{root} holds a run with other {', '.join(other)}: choose another output folder, or remove this one"
            )
        if record["finished"]:
            return record
    examples = []  # (masked caption, target)
    for text, sentence in zip(texts, parse(texts, num_proc=num_proc), strict=True):
        slots = [slot for slot in verb_slots(sentence) if slot.rejection_reason is None]
        if slots:
            slot = slots[int(stream(tuning.seed, "tune-t5", "verb", text).integers(len(slots)))]
            masked_caption = text[: slot.start] + SENTINEL + text[slot.end :]
            examples.append((masked_caption, f"{SENTINEL} {text[slot.start : slot.end]} {END}"))
    if not examples:
        raise VideoContrastError(f"none of the {len(texts)} captions has a verb phrase to learn")
    with noticing_an_end():
        trainer = _trainer(root, tuning, examples, save_every)
        counts = {"captions_used": len(examples), "captions_without_verb": len(texts) - len(examples)}
        return _train(trainer, identity | counts, root, stop_after=stop_after, say=say)


def _trainer(root: Path, tuning: Tuning, examples: Sequence[tuple[str, str]], save_every: int) -> Any:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments

    processes = int(os.environ.get("WORLD_SIZE", "1"))
    arguments = TrainingArguments(
        output_dir=str(root / _CHECKPOINTS),
        num_train_epochs=tuning.epochs,
        per_device_train_batch_size=max(1, tuning.batch_size // processes),
        learning_rate=tuning.learning_rate,
        lr_scheduler_type="linear",
        seed=int.from_bytes(digest(tuning.seed, "tune-t5")[:4], "little"),
        save_steps=save_every,
        save_total_limit=1,
        logging_steps=save_every,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        use_cpu=on_cpu(),
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # a process takes one device; several come from the launcher
    tokenizer = load(tuning.model, AutoTokenizer, "--model")
    model = load(tuning.model, AutoModelForSeq2SeqLM, "--model")
    rows = [
        {**tokenizer(source, truncation=True), "labels": tokenizer(target, truncation=True)["input_ids"]}
        for source, target in examples
    ]
    collator = DataCollatorForSeq2Seq(tokenizer, model)
    return Trainer(model, arguments, collator, train_dataset=rows, processing_class=tokenizer)


def _train(trainer: Any, record: JsonObject, root: Path, *, stop_after: int | None, say: Say) -> JsonObject:
    """Goes on from the last checkpoint; the record is written with each."""
    from transformers import TrainerCallback
    from transformers.trainer_utils import get_last_checkpoint

    class Progress(TrainerCallback):
        """Writes the record, and stops after the steps of this call."""

        first: int | None = None

        def on_step_end(self, args: object, state: Any, control: Any, **others: object) -> None:
            """Asks for a checkpoint at the end, whichever it is."""
            self.first = state.global_step - 1 if self.first is None else self.first
            is_last = stop_after is not None and state.global_step - self.first >= stop_after
            if is_last or state.global_step == state.max_steps:
                control.should_log = control.should_save = control.should_training_stop = True

        def on_save(self, args: object, state: Any, control: Any, **others: object) -> None:
            """Writes and tells how far it is."""
            if state.is_world_process_zero:
                loss = next(entry["loss"] for entry in reversed(state.log_history) if "loss" in entry)
                progress = {"steps": state.global_step, "of_steps": state.max_steps, "finished": False, "loss": loss}
                write_json(root / RECORD, record | progress)
                say(f"step {state.global_step} of {state.max_steps}: loss {loss:.3f}")

    trainer.add_callback(Progress())
    last = get_last_checkpoint(str(root / _CHECKPOINTS)) if (root / _CHECKPOINTS).is_dir() else None
    trainer.train(resume_from_checkpoint=last)
    trainer.accelerator.wait_for_everyone()
    if trainer.state.global_step == trainer.state.max_steps and trainer.is_world_process_zero():
        trainer.accelerator.unwrap_model(trainer.model).eval().save_pretrained(root)
        trainer.processing_class.save_pretrained(root)
        write_json(root / RECORD, dict(read_json(root / RECORD)) | {"finished": True})
        shutil.rmtree(root / _CHECKPOINTS)
    trainer.accelerator.wait_for_everyone()
    return dict(read_json(root / RECORD))
