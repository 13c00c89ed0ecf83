"""Builds the contrasts of the generator `frames` for MSR-VTT's test videos and YouCook2's validation clips, and lays
shuffled pairs out for blind readers, among pairs of other sources.

    python benchmarks/frames_reading.py DATA OUTPUT [--cache parses.sqlite] [--lexical N] [--human TABLE]
        [--processes N]

Writes OUTPUT/arms.jsonl (pairs with their sources), OUTPUT/blind.tsv (number, original, edited: what readers see) and
OUTPUT/built.json (yields, blind accuracies, lengths, reasons). YouCook2's pairs stand among them.
"""

import csv
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from parts.command_line import parser_of

from video_contrast.files import JsonObject, read_json, write_json, write_text
from video_contrast.perturbations.contrast.generators.frames import choose_balanced, load_counts, propose
from video_contrast.perturbations.contrast.generators.frames.distil import msrvtt
from video_contrast.perturbations.contrast.generators.frames.generate import Kind, ProposedContrasts
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal
from video_contrast.perturbations.contrast.generators.frames.quality import Quality
from video_contrast.seeds import stream

SEED = 0
Estimator = Any  # of scikit-learn, whose types are not followed
LM = "park_contrast_sets/msrvtt_lm_contrast_set.tsv"
YOUCOOK2 = 60  # pairs of each kind that are read
Captioned = tuple[str, str | None, Sequence[str]]  # id, category, captions of a clip
Pair = tuple[str, str]  # original, edited
Pairs = list[tuple[str, str, str]]  # clip, original, edited
Share = dict[str, float]  # accuracy and its standard error
ARMS: dict[str, tuple[Kind, Quality, int]] = {
    "verb_high": ("verb", "high", 150),
    "verb_balanced": ("verb", "balanced", 150),
    "object_high": ("object", "high", 90),
    "object_balanced": ("object", "balanced", 90),
}


def youcook2(folder: str) -> list[Captioned]:
    """(id, None, [sentence]) of the validation segments."""
    clips = read_json(Path(folder) / "youcook2" / "captioning_val.json")
    return [
        (f"{name}#{number}", None, [text.strip()])
        for name in sorted(clips)
        for number, text in enumerate(clips[name]["sentences"])
        if text.strip()
    ]


def blind(pairs: Sequence[Pair], folds: int = 5) -> dict[str, Share]:
    """Text-only accuracies of (original, edited) pairs: of cross-validated models (a logistic regression on runs of
    words and the length, one on letters, a naive Bayes on words and pairs of words, a bigram model), and of length."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_union
    from sklearn.preprocessing import FunctionTransformer

    fold = np.arange(len(pairs)) % folds
    fold = stream(SEED, "reading-folds").permutation(fold)
    seen = {"binary": True, "min_df": 2, "dtype": float}
    words = make_union(CountVectorizer(ngram_range=(1, 3), token_pattern=r"\S+", **seen), FunctionTransformer(_lengths))
    pairs_of_words = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", **seen)
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), **seen)
    facts = {
        "classifier": _told(pairs, fold, words, LogisticRegression(C=1.0, solver="liblinear")),
        "letters": _told(pairs, fold, letters, LogisticRegression(C=0.3, solver="liblinear")),
        "naive_bayes": _told(pairs, fold, pairs_of_words, MultinomialNB()),
        "bigrams": _share(_bigrams(pairs, fold, folds)),
    }
    sizes: dict[str, Callable[[str], int]] = {
        "shorter_words": lambda text: len(text.split()),
        "shorter_characters": len,
    }
    for name, size in sizes.items():
        facts[name] = _share(np.array([(size(a) < size(b)) + 0.5 * (size(a) == size(b)) for a, b in pairs]))
    return facts


def _told(pairs: Sequence[Pair], fold: np.ndarray, vectorizer: Estimator, model: Estimator) -> Share:
    """How often a model of the other folds' texts finds the original of a pair."""
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.pipeline import make_pipeline

    texts = [text for side in zip(*pairs, strict=True) for text in side]
    original = np.arange(len(texts)) < len(pairs)
    folds, steps = PredefinedSplit(np.tile(fold, 2)), make_pipeline(vectorizer, model)
    logs = cross_val_predict(steps, texts, original, cv=folds, method="predict_log_proba")
    first, second = np.split(logs[:, 1] - logs[:, 0], 2)
    return _share((first > second) + 0.5 * (first == second))


def _lengths(texts: Iterable[str]) -> np.ndarray:
    return np.array([[len(text.split()) / 10, len(text) / 50] for text in texts])


def _bigrams(pairs: Sequence[Pair], fold: np.ndarray, folds: int) -> np.ndarray:
    """Which of two captions a bigram model of the other folds' originals finds likelier (Laplace, per word)."""
    won = np.zeros(len(pairs))
    for held in range(folds):
        singles: Counter[str] = Counter()
        pairs_of: Counter[tuple[str, str]] = Counter()
        for (text, _), place in zip(pairs, fold, strict=True):
            if place != held:
                words = ["<", *text.split(), ">"]
                singles.update(words)
                pairs_of.update(itertools.pairwise(words))
        total, kinds = sum(singles.values()), len(singles) + 1

        for n in np.flatnonzero(fold == held).tolist():
            means = []
            for text in pairs[n]:
                words = ["<", *text.split(), ">"]
                logs = [
                    np.log((pairs_of[a, b] + 2 * (singles[b] + 0.5) / (total + 0.5 * kinds)) / (singles[a] + 2))
                    for a, b in itertools.pairwise(words)
                ]
                means.append(float(np.mean(logs)))
            won[n] = (means[0] > means[1]) + 0.5 * (means[0] == means[1])
    return won


def _share(won: np.ndarray) -> Share:
    return {"accuracy": round(float(won.mean()), 4), "standard_error": round(float(won.std() / len(won) ** 0.5), 4)}


def build(clips: Sequence[Captioned], proposed: ProposedContrasts, seconds: float) -> tuple[list[Proposal], JsonObject]:
    """The chosen contrasts and what is to be told of them."""
    started = time.process_time()
    by_clip = choose_balanced(proposed)
    seconds += time.process_time() - started
    contrasts = list(by_clip.values())
    words = [len(item.caption.split()) for item in contrasts]
    every = [len(text.split()) for _, _, captions in clips for text in captions]
    facts: JsonObject = {
        "clips": len(clips),
        "items": len(contrasts),
        "yield": round(len(contrasts) / len(clips), 4),
        "antonyms": round(float(np.mean([item.antonym for item in contrasts])), 4),
        "words": {
            "mean": round(float(np.mean(words)), 2),
            "sd": round(float(np.std(words)), 2),
            "set_mean": round(float(np.mean(every)), 2),
            "set_sd": round(float(np.std(every)), 2),
        },
        "reasons": dict(proposed.reasons.most_common()),
        "notes": proposed.notes,
        "summary": proposed.summary(),
        "captions_a_cpu_second": round(len(every) / seconds, 1),
        "commonest": [" > ".join(pair) for pair, _ in Counter((i.unit, i.other) for i in contrasts).most_common(20)],
    }
    facts["blind"] = blind([(item.caption, item.text) for item in contrasts])
    return contrasts, facts


def released(path: str | Path, n: int, purpose: str) -> Pairs:
    """Pairs of a released set: the true caption, and the ending nearest to it in words."""
    rows = []
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            endings = [row[f"ending{place}"] for place in range(5)]
            true = endings[int(row["label"])]
            others = [text for text in endings if text != true]
            shared = [len(set(text.split()) & set(true.split())) / max(len(text.split()), 1) for text in others]
            near = others[int(np.argmax(shared))]
            rows.append((row["clip"], true, near))
    order = stream(SEED, f"reading-{purpose}").permutation(len(rows))
    return [rows[place] for place in order[:n]]


def lexical(folder: str, clips: Sequence[Captioned], n: int) -> Pairs:
    """Pairs of the earlier lexical generator."""
    from video_contrast.perturbations.contrast import verb

    order = stream(SEED, "reading-lexical").permutation(len(clips))[: 3 * n]
    part = [clips[place] for place in order]
    training = [text for _, _, captions in msrvtt(folder, "train")[::6] for text in captions]
    captions = [texts[0] for _, _, texts in part]
    edits, _ = verb.contrasts(
        captions, [name for name, _, _ in part], siblings=[texts[1:] for _, _, texts in part], train_captions=training
    )
    contrasts = [
        (name, text, edit.text)
        for (name, _, _), text, edit in zip(part, captions, edits, strict=True)
        if edit is not None
    ]
    return contrasts[:n]


def _proposed(
    clips: Sequence[Captioned], kind: Kind, quality: Quality, cache: str | None
) -> tuple[ProposedContrasts, float]:
    """All proposals of the clips, and the CPU-seconds that they took."""
    started = time.process_time()
    proposed = propose(clips, load_counts(), kind=kind, quality=quality, seed=SEED, cache=cache)
    return proposed, time.process_time() - started


def _lay_out(arms: Iterable[tuple[str, Pairs]], output: Path) -> None:
    """Equal pairs of several arms stand once; the readers' file has no source."""
    merged: dict[Pair, tuple[str, list[str]]] = {}
    for source, pairs in arms:
        for name, original, edited in pairs:
            merged.setdefault((original, edited), (name, []))[1].append(source)
    keys = sorted(merged)
    order = stream(SEED, "reading", "all").permutation(len(keys))
    records, lines = [], ["id\toriginal\tedited"]
    for number, place in enumerate(order, start=1):
        original, edited = keys[place]
        clip, sources = merged[keys[place]]
        records.append({"id": number, "clip": clip, "arm": "+".join(sources), "original": original, "edited": edited})
        lines.append(f"{number}\t{' '.join(original.split())}\t{' '.join(edited.split())}")
    write_text(output / "arms.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    write_text(output / "blind.tsv", "\n".join(lines) + "\n")


def _drawn(contrasts: Sequence[Proposal], n: int, purpose: str) -> Pairs:
    order = stream(SEED, "reading-draw", purpose).permutation(len(contrasts))
    return [
        (contrasts[place].clip, contrasts[place].caption, contrasts[place].text) for place in sorted(order[:n].tolist())
    ]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("data", nargs="?", default=os.environ.get("VIDEO_CONTRAST_DATA", ""), help="folder of captions")
    parser.add_argument("output", nargs="?", default="build/frames-reading", help="[default: build/frames-reading]")
    parser.add_argument("--cache", help="SQLite file that keeps parses")
    parser.add_argument("--lexical", type=int, default=40, help="pairs of the lexical generator [default: 40]")
    parser.add_argument("--human", help="the released set that people wrote, a table as the released Verb_LM set")
    parser.add_argument("--processes", type=int, default=1, help="[default: 1]")
    options = parser.parse_args()
    if not options.data or not Path(options.data).is_dir():
        print("left out: give DATA, the folder with the captions, or set VIDEO_CONTRAST_DATA")
        return
    output = Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    clips: list[Captioned] = list(msrvtt(options.data, "test"))
    cooking = youcook2(options.data)
    both: tuple[Kind, Kind] = ("verb", "object")
    tasks: dict[str, tuple[list[Captioned], Kind, Quality]] = {kind: (clips, kind, "all") for kind in both}
    tasks |= {f"youcook2_{kind}": (cooking, kind, "balanced") for kind in both}
    jobs: dict[str, tuple[str, Quality, int]] = dict(ARMS)  # arm -> its task, quality and number of pairs
    jobs |= {f"youcook2_{kind}": (f"youcook2_{kind}", "balanced", YOUCOOK2) for kind in both}
    load_counts()  # stays in memory, which the processes share
    with get_context("fork").Pool(options.processes) as pool:
        older = pool.apply_async(lexical, (options.data, clips, options.lexical)) if options.lexical else None
        proposed = pool.starmap(_proposed, [(*task, options.cache) for task in tasks.values()], chunksize=1)
        results = dict(zip(tasks, proposed, strict=True))
        work = [(tasks[name][0], results[name][0].at(quality), results[name][1]) for name, quality, _ in jobs.values()]
        older_pairs: Pairs = older.get() if older is not None else []
        built = dict(zip(jobs, pool.starmap(build, work, chunksize=1), strict=True))
    arms: list[tuple[str, Pairs]] = []
    facts: dict[str, JsonObject] = {}
    for source, (_, _, n) in jobs.items():
        items, facts[source] = built[source]
        arms.append((source, _drawn(items, n, source)))
        print(source, facts[source]["summary"], facts[source]["blind"], flush=True)
    arms.append(("released_lm", released(Path(options.data) / LM, 100, "released")))
    arms.append(("lexical", older_pairs))
    if options.human:
        arms.append(("released_human", released(options.human, 40, "human")))
    _lay_out(arms, output)
    write_json(output / "built.json", facts)


if __name__ == "__main__":
    main()
