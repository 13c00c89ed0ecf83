"""Speed of the contrast generators: rules in captions a CPU second, model steps as a ratio to a per-caption loop.

    MSRVTT=annotations python benchmarks/contrast_sets.py

Captions are MSR-VTT's test captions where the variable MSRVTT names the annotations folder, else made up here.
Models have random weights, since speed does not depend on them. Everything runs on one thread; the two sides of a
ratio run in turn in one process, and medians of CPU seconds are compared.
"""

import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from parts import standins
from parts.clock import times_faster
from parts.command_line import parser_of

from video_contrast.perturbations.contrast import gender, person_id, verb
from video_contrast.perturbations.contrast.candidate import Original
from video_contrast.perturbations.contrast.constraints.perplexity import LanguageModel
from video_contrast.perturbations.contrast.pipeline import Pipeline
from video_contrast.perturbations.language import tag, tagging

RULES = ["has_verb", "lemma", "frequency", "inflection"]
CAPTIONS, TRAIN, RUNS = 20_000, 20_000, 5
Propose = Callable[[Sequence[Original], Sequence[np.random.Generator]], object]


def main() -> None:
    parser_of(__doc__).parse_args()
    torch.set_num_threads(1)
    captions, train, source = _captions()
    ids = [str(n) for n in range(len(captions))]
    print(f"{len(captions)} captions ({source}), one thread, CPU seconds\n")
    print("| step | captions a second |\n|---|---|")
    tag(["a man runs"], tagger="hanta")  # loads the tagger
    _row("tagging with HanTa, first time", len(captions), lambda: tag(captions, tagger="hanta"))
    _row("tags from memory", len(captions), lambda: tag(captions, tagger="hanta"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "tags.sqlite")
        tagging._tags.clear()
        tag(captions, tagger="hanta", cache=place)
        tagging._tags.clear()
        _row("tags from the file of an earlier run", len(captions), lambda: tag(captions, tagger="hanta", cache=place))
    tagging._tags.clear()
    _row("gender, tags of `her` included", len(captions), lambda: gender.contrasts(captions, ids, tagger="hanta"))
    cast = {name: "male" for name in ("Jenko", "Schmidt", "Zach", "Eric")}
    named = [caption.replace("man", "Jenko") for caption in captions]
    _row("character id", len(captions), lambda: person_id.contrasts(named, ids, [cast] * len(named)))
    counts = verb.count(train, tagger="hanta")
    tag(captions, tagger="hanta")
    pipeline = Pipeline("lexical", RULES, counts=counts, tagger="hanta")
    _row("lexical verb, tags from memory", len(captions), lambda: pipeline.run(captions, ids))
    print("\n| model step, 256 captions | times faster than one caption at a time |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        _models(Path(folder), captions[:: len(captions) // 256][:256], counts)


def _row(name: str, n: int, step: Callable[[], object]) -> None:
    began = time.process_time()
    step()
    print(f"| {name} | {n / (time.process_time() - began):,.0f} |", flush=True)


def _captions() -> tuple[list[str], list[str], str]:
    folder = os.environ.get("MSRVTT")
    if folder:
        texts = [
            list(dict.fromkeys(s["caption"] for s in json.loads(Path(folder, name).read_text("utf-8"))["sentences"]))
            for name in ("test_videodatainfo.json", "train_val_videodatainfo.json")
        ]
        return texts[0][:CAPTIONS], texts[1][:TRAIN], "MSR-VTT"
    who = ("a man", "a woman", "two girls", "the boy", "a young lady", "some people", "a dog", "a cook", "three guys")
    does = ("is singing", "walks", "is talking to her friend", "plays", "is cutting an onion", "sits", "runs", "dances")
    where = ("in a kitchen", "on a stage", "near the door", "in the street", "with his phone", "at a table", "by a car")
    when = [f"for {n} minutes" for n in range(40)]
    captions = [" ".join(parts) for parts in itertools.product(who, does, where, when)]
    return captions[:CAPTIONS], captions[1::2][:TRAIN], "made up"


def _models(folder: Path, captions: Sequence[str], counts: verb.WordCounts) -> None:
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, T5Config
    from transformers import T5ForConditionalGeneration as T5

    words = sorted({word for caption in captions for word in caption.split()})
    tokenizer = standins.tokenizer(folder, words)
    size = len(tokenizer)
    bert = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
    t5 = {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
    torch.manual_seed(0)
    models = {
        "gpt2": GPT2LMHeadModel(GPT2Config(vocab_size=size, n_embd=256, n_layer=4, n_head=4, bos_token_id=1)),
        "bert": BertForMaskedLM(BertConfig(vocab_size=size, **bert)),
        "t5": T5(T5Config(vocab_size=size, **t5)),
    }
    for name, model in models.items():
        tokenizer.save_pretrained(folder / name)
        model.save_pretrained(folder / name)

    together, alone = (LanguageModel(str(folder / "gpt2"), device="cpu") for _ in range(2))

    def one_by_one() -> None:
        alone._known.clear()
        for caption in captions:
            alone.perplexity([caption])

    def at_once() -> None:
        together._known.clear()
        together.perplexity(list(captions))

    print(f"| perplexity, 4-layer GPT-2 of width 256 | {times_faster(at_once, one_by_one, RUNS):.1f} |", flush=True)
    for name, options, shown in (
        ("mlm", {"model": str(folder / "bert")}, "masked model, 4-layer BERT of width 256"),
        ("t5", {"model": str(folder / "t5"), "beams": 4, "k": 4}, "T5, 2 + 2 layers of width 128, 4 beams"),
    ):
        pipeline = Pipeline(name, ["has_verb"], counts=counts, tagger="hanta", generator_options=options)
        originals = [o for o in pipeline._originals(captions, list(map(str, captions)), None, counts.uses.copy()) if o]
        propose = partial(pipeline.generator.propose, originals, [])

        def loop(propose: Propose = pipeline.generator.propose, originals: list[Original] = originals) -> None:
            for original in originals:
                propose([original], [])

        print(f"| {shown} | {times_faster(propose, loop, RUNS):.1f} |", flush=True)


if __name__ == "__main__":
    main()
