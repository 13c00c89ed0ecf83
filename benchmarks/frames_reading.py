"""Builds the contrasts of the generator `frames` for MSR-VTT's test videos and YouCook2's validation clips, and lays
shuffled pairs out for blind readers, among pairs of other sources.

    python benchmarks/frames_reading.py DATA OUTPUT [--cache parses.sqlite] [--lexical N]

Writes OUTPUT/arms.jsonl (pairs with their sources), OUTPUT/blind.tsv (number, original, edited: what readers see) and
OUTPUT/built.json (yields, blind accuracies, lengths, reasons). The same for YouCook2 under youcook2_*.
"""

import argparse
import csv
import itertools
import json
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from video_contrast.files import read_json, write_json, write_text
from video_contrast.perturbations.contrast.generators.frames import choose_balanced, load_counts, propose
from video_contrast.seeds import stream

SEED = 0
ARMS = {
    "verb_high": ("verb", "high", 150),
    "verb_balanced": ("verb", "balanced", 150),
    "verb_all": ("verb", "all", 0),
    "object_high": ("object", "high", 75),
    "object_balanced": ("object", "balanced", 75),
    "object_all": ("object", "all", 0),
}


def msrvtt(data, split):
    """(id, category, captions) of the split's videos."""
    name = "test_videodatainfo.json" if split == "test" else "train_val_videodatainfo.json"
    info = read_json(Path(data) / "msrvtt" / name)
    categories = {video["video_id"]: str(video["category"]) for video in info["videos"] if video["split"] == split}
    captions = {name: [] for name in categories}
    for sentence in info["sentences"]:
        if sentence["video_id"] in captions:
            captions[sentence["video_id"]].append(sentence["caption"])
    return [(name, categories[name], captions[name]) for name in sorted(captions, key=lambda name: int(name[5:]))]


def youcook2(data):
    """(id, None, [sentence]) of the validation segments."""
    clips = read_json(Path(data) / "youcook2" / "captioning_val.json")
    return [
        (f"{name}#{number}", None, [text.strip()])
        for name in sorted(clips)
        for number, text in enumerate(clips[name]["sentences"])
        if text.strip()
    ]


def blind(pairs, folds=5):
    """Text-only accuracies of (original, edited) pairs: a cross-validated classifier and language model, and length."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    fold = np.arange(len(pairs)) % folds
    fold = stream(SEED, "reading-folds").permutation(fold)
    won = np.zeros(len(pairs))
    for held in range(folds):
        train = [pair for pair, place in zip(pairs, fold, strict=True) if place != held]
        test = [n for n, place in enumerate(fold) if place == held]
        texts = [pair[0] for pair in train] + [pair[1] for pair in train]
        words = CountVectorizer(ngram_range=(1, 3), binary=True, token_pattern=r"\S+", min_df=2).fit(texts)

        def vectors(given, words=words):
            from scipy import sparse

            lengths = np.array([[len(text.split()) / 10, len(text) / 50] for text in given])
            return sparse.hstack([words.transform(given).astype(float), sparse.csr_matrix(lengths)]).tocsr()

        labels = np.array([1] * len(train) + [0] * len(train))
        model = LogisticRegression(C=1.0, solver="liblinear").fit(vectors(texts), labels)
        first = model.decision_function(vectors([pairs[n][0] for n in test]))
        second = model.decision_function(vectors([pairs[n][1] for n in test]))
        won[test] = (first > second) + 0.5 * (first == second)
    facts = {"classifier": _share(won), "bigrams": _share(_bigrams(pairs, fold, folds))}
    for name, size in (("shorter_words", lambda text: len(text.split())), ("shorter_characters", len)):
        facts[name] = _share(np.array([(size(a) < size(b)) + 0.5 * (size(a) == size(b)) for a, b in pairs]))
    return facts


def _bigrams(pairs, fold, folds):
    """Which of two captions a bigram model of the other folds' originals finds likelier (Laplace, per word)."""
    won = np.zeros(len(pairs))
    for held in range(folds):
        one, two = Counter(), Counter()
        for (text, _), place in zip(pairs, fold, strict=True):
            if place != held:
                words = ["<", *text.split(), ">"]
                one.update(words)
                two.update(itertools.pairwise(words))
        total, kinds = sum(one.values()), len(one) + 1

        def mean(text, one=one, two=two, total=total, kinds=kinds):
            words = ["<", *text.split(), ">"]
            logs = [
                np.log((two[a, b] + 2 * (one[b] + 0.5) / (total + 0.5 * kinds)) / (one[a] + 2))
                for a, b in itertools.pairwise(words)
            ]
            return float(np.mean(logs))

        for n in np.flatnonzero(fold == held):
            a, b = mean(pairs[n][0]), mean(pairs[n][1])
            won[n] = (a > b) + 0.5 * (a == b)
    return won


def _share(won):
    return {"accuracy": round(float(won.mean()), 4), "standard_error": round(float(won.std() / len(won) ** 0.5), 4)}


def build(clips, found, seconds):
    """The chosen contrasts and what is to be told of them."""
    started = time.process_time()
    chosen = choose_balanced(found)
    seconds += time.process_time() - started
    made = list(chosen.values())
    words = [len(item.caption.split()) for item in made]
    every = [len(text.split()) for _, _, captions in clips for text in captions]
    facts = {
        "clips": len(clips),
        "items": len(made),
        "yield": round(len(made) / len(clips), 4),
        "antonyms": round(float(np.mean([item.antonym for item in made])), 4),
        "words": {
            "mean": round(float(np.mean(words)), 2),
            "sd": round(float(np.std(words)), 2),
            "set_mean": round(float(np.mean(every)), 2),
            "set_sd": round(float(np.std(every)), 2),
        },
        "reasons": dict(found.reasons.most_common()),
        "notes": found.notes,
        "summary": found.summary(),
        "captions_a_cpu_second": round(len(every) / seconds, 1),
        "commonest": [" > ".join(pair) for pair, _ in Counter((i.unit, i.other) for i in made).most_common(20)],
    }
    facts["blind"] = blind([(item.caption, item.text) for item in made])
    return made, facts


def released(data, n):
    """Pairs of the released Verb_LM set: the true caption, and the ending that differs from it in one short span."""
    rows = []
    with (Path(data) / "park_contrast_sets" / "msrvtt_lm_contrast_set.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            endings = [row[f"ending{place}"] for place in range(5)]
            true = endings[int(row["label"])]
            others = [text for text in endings if text != true]
            near = max(others, key=lambda text: len(set(text.split()) & set(true.split())) / max(len(text.split()), 1))
            rows.append((row["clip"], true, near))
    order = stream(SEED, "reading-released").permutation(len(rows))
    return [rows[place] for place in order[:n]]


def lexical(data, clips, n):
    """Pairs of the earlier lexical generator."""
    from video_contrast.perturbations.contrast import verb

    order = stream(SEED, "reading-lexical").permutation(len(clips))[: 3 * n]
    part = [clips[place] for place in order]
    training = [text for _, _, captions in msrvtt(data, "train")[::6] for text in captions]
    captions = [texts[0] for _, _, texts in part]
    edits, _ = verb.contrasts(
        captions, [name for name, _, _ in part], siblings=[texts[1:] for _, _, texts in part], train_captions=training
    )
    made = [
        (name, text, edit.text)
        for (name, _, _), text, edit in zip(part, captions, edits, strict=True)
        if edit is not None
    ]
    return made[:n]


def _lay_out(arms, output, prefix, purpose):
    """Equal pairs of several arms stand once; the reader's file has no source."""
    merged = {}
    for source, pairs in arms:
        for name, original, edited in pairs:
            merged.setdefault((original, edited), [name, []])[1].append(source)
    keys = sorted(merged)
    order = stream(SEED, "reading", purpose).permutation(len(keys))
    records, lines = [], ["number\toriginal\tedited"]
    for number, place in enumerate(order, start=1):
        original, edited = keys[place]
        name, sources = merged[keys[place]]
        records.append(
            {"number": number, "id": name, "source": "+".join(sources), "original": original, "edited": edited}
        )
        lines.append(f"{number}\t{' '.join(original.split())}\t{' '.join(edited.split())}")
    write_text(output / f"{prefix}arms.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    write_text(output / f"{prefix}blind.tsv", "\n".join(lines) + "\n")


def _drawn(made, n, *purpose):
    order = stream(SEED, "reading-draw", *purpose).permutation(len(made))
    return [(made[place].clip, made[place].caption, made[place].text) for place in sorted(order[:n].tolist())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.environ.get("VIDEO_CONTRAST_DATA", ""))
    parser.add_argument("output", nargs="?", default="build/frames-reading")
    parser.add_argument("--cache")
    parser.add_argument("--lexical", type=int, default=40)
    options = parser.parse_args()
    if not options.data or not Path(options.data).is_dir():
        print("skipped: no folder with the captions is given")
        return
    output, counts = Path(options.output), load_counts()
    output.mkdir(parents=True, exist_ok=True)
    clips = msrvtt(options.data, "test")
    facts, arms = {}, []
    proposed = {}
    for kind in ("verb", "object"):
        started = time.process_time()
        found = propose(clips, counts, kind=kind, quality="all", seed=SEED, cache=options.cache)
        proposed[kind] = found, time.process_time() - started
    for source, (kind, quality, n) in ARMS.items():
        found, seconds = proposed[kind]
        made, facts[source] = build(clips, found.at(quality), seconds)
        arms.append((source, _drawn(made, n, source)))
        print(source, facts[source]["summary"], facts[source]["blind"], flush=True)
    arms.append(("released_lm", released(options.data, 100)))
    if options.lexical:
        arms.append(("lexical", lexical(options.data, clips, options.lexical)))
    _lay_out(arms, output, "", "msrvtt")
    cooking = youcook2(options.data)
    arms = []
    for kind in ("verb", "object"):
        started = time.process_time()
        found = propose(cooking, counts, kind=kind, quality="balanced", seed=SEED, cache=options.cache)
        made, facts[f"youcook2_{kind}"] = build(cooking, found, time.process_time() - started)
        arms.append((f"youcook2_{kind}", _drawn(made, 80, "youcook2", kind)))
        print(kind, facts[f"youcook2_{kind}"]["summary"], facts[f"youcook2_{kind}"]["blind"], flush=True)
    _lay_out(arms, output, "youcook2_", "youcook2")
    write_json(output / "built.json", facts)


if __name__ == "__main__":
    main()
