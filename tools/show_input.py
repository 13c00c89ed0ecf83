"""The input of one model of each family for one item: writes docs/show_input.md, from tiny checkpoints of the classes.

    python tools/show_input.py docs/show_input.md

It needs torchvision and timm beside torch (`pip install "video-contrast[vlm]" timm`). Weights are random, sizes tiny,
so token counts are not those of published checkpoints; prompts, marks and times are.
"""

import argparse
import importlib.util
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import remote_code
import tiny_late
import tiny_models
import tiny_vlm

import video_contrast

HEAD = """# What each family is given

Prompts, marks, times and inputs of one tiny checkpoint of each family, as `score --show-input` prints them for
`--dataset shapes --config random_mc --frames 4` (`python tools/show_input.py docs/show_input.md`): four frames of
64 x 64 at {times} seconds, and the caption "{caption}".

Weights are random and sizes tiny: numbers of tokens and shapes differ from published checkpoints, nothing else does.
`read` is what the model reads, decoded: at least the last tokens of the video and all that follow. Where it is all of
the prompt, no `prompt` stands beside it. `<token> (x 9)` stands for nine of them, `\\n` for a new line. "Times told"
are the seconds that the model gets with the frames; the other families get none.
"""
TEXTS = {"prompt": "prompt", "clip_prompt": "clip", "decoded": "read", "frame_decoded": "a frame ends"}
QUERY = {"query": "Retrieve videos relevant to the user's query.", "document": ""}


def sentence(make: Callable[[Path], Path], folder: Path) -> Path:
    """A `SentenceTransformer` of a generative class: its last token, of length 1."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    modules = [Transformer(str(make(folder / "inside"))), Pooling(32, pooling_mode="lasttoken"), Normalize()]
    SentenceTransformer(modules=modules, prompts=QUERY).save(str(folder / "saved"))
    return folder / "saved"


def reranker(folder: Path) -> Path:
    """A `CrossEncoder` of a generative class."""
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.cross_encoder.modules import LogitScore

    module = Transformer(str(tiny_vlm.qwen2_5_vl(folder / "inside")), transformer_task="any-to-any")
    yes, no = module.tokenizer.convert_tokens_to_ids(["Yes", "No"])
    encoder = CrossEncoder(modules=[module, LogitScore(true_token_id=yes, false_token_id=no)])
    encoder.save_pretrained(str(folder / "saved"))
    return folder / "saved"


def families() -> Iterator[tuple[str, Callable[[Path], Path]]]:
    """Name -> maker of a tiny checkpoint."""
    yield from tiny_models.MAKERS.items()
    yield from {"VideoPrism": tiny_models.videoprism, "PE-Video": tiny_models.pe_video}.items()
    yield "PE-AV", tiny_models.pe_audio_video
    yield from tiny_late.MAKERS.items()
    for name in remote_code.METHODS:
        yield name, lambda folder, name=name: remote_code.embedder(folder, name)  # type: ignore[misc]
    yield "SentenceTransformer of Qwen3-VL", lambda folder: sentence(tiny_vlm.qwen3_vl, folder)
    yield "CrossEncoder of Qwen2.5-VL", reranker
    yield from ((name, make) for name, make in tiny_vlm.MAKERS.items() if name != "embedding_gemma2")


def shown(folder: Path) -> dict[str, Any]:  # JSON
    """The record of `--show-input`."""
    result = video_contrast.score(
        folder, "shapes", "random_mc", frames=4, show_input=True, trust_remote_code=True, device="cpu", progress=False
    )
    record = json.loads(json.dumps(result.record))
    return {"kind": record["kind"], "caption": record["item"]["captions"][0], **record["input"]}


def section(record: Mapping[str, Any]) -> str:  # JSON
    """The facts that differ between families: kind, inputs with their shapes, times told, texts."""
    inputs = [f"`{name}` {' x '.join(map(str, shape))}" for name, shape in record.get("pixels", {}).items()]
    facts = [f"Kind `{record['kind']}`"] + ([f"inputs {', '.join(inputs)}"] if inputs else [])
    if record.get("times_told"):
        facts.append(f"times told {', '.join(f'{seconds:g}' for seconds in record['times_told'])}")
    texts = {label: record[name] for name, label in TEXTS.items() if name in record}
    if "read" in texts and texts["read"].startswith(texts["prompt"][:20]):
        del texts["prompt"]
    lines = [f"{label}: {compact(text)}" for label, text in texts.items()]
    block = ["", "```text", *lines, "```"] if lines else []
    return "\n".join(["; ".join(facts) + ".", *block])


def compact(text: str) -> str:
    r"""A text in one line, "\n" for ends of lines, and a token that stands many times in a row written once."""
    tokens = re.compile(r"(<[^<>]+>)\1{3,}")
    return tokens.sub(lambda match: f"{match[1]} (x {len(match[0]) // len(match[1])}) ", text.replace("\n", r"\n"))


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, help="the page to write")
    target = parser.parse_args().target
    missing = [name for name in ("torchvision", "timm") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"left out: {' and '.join(missing)} cannot be imported")
        return
    same: dict[str, list[str]] = {}  # section -> families
    with tempfile.TemporaryDirectory() as root:
        for number, (name, make) in enumerate(families()):
            print(name, flush=True)
            record = shown(make(Path(root) / f"m{number}"))
            same.setdefault(section(record), []).append(name)
    head = HEAD.format(times=", ".join(map(str, record["times"])), caption=record["caption"])
    parts = [head, *(f"## {', '.join(names)}\n\n{text}\n" for text, names in same.items())]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
