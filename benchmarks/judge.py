"""Trains the judge of proposed edits on votes of readers, and measures it on clips that it never saw.

    python benchmarks/judge.py benchmarks/readings/edits.tsv benchmarks/readings/pairs.tsv
        [--output perturbations/contrast/judge.tsv]

Tables with captions (`original`, `edited`, `natural`, `surely false`, as `readings/pairs.tsv`) get the features of the
edits that today's lexicon proposes. Others are as `readings/edits.tsv`: `kind` ("verb" or "object"), `clip`, `vote`
(wording g, o or b, and truth f, m or t; usable is "gf"), `weight` (1 to 15: how far a vote is trusted, by what its
captions are like; for verbs from 5 on: captions of other styles than those that were counted, by strict readers, or by
readers of each temper, 5 a reader), and a column a feature, empty where it is 0 (`LATER`: where it is unknown).
By how much the readers of other verbs are milder is learned apart and left out of the weights, so that a probability is
what the former say of any captions. The words that an edit replaces and puts in are features, too.
Prints area under the curve and calibration by tenths: cross-validated over clips (votes from 5 on also apart).
"""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from parts.measuring import parser_of
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from video_contrast.perturbations.contrast.generate import load_counts, propose
from video_contrast.perturbations.contrast.judge import INTERCEPT, PUTS_IN, QUESTIONS, REPLACES, Judge
from video_contrast.perturbations.contrast.proposal import Target

Vote = dict[str, Any]  # kind, clip, vote, weight, features
Models = dict[str, LogisticRegression]  # of each question
TARGETS: tuple[Target, ...] = ("verb", "object")
STRENGTH = 0.02  # inverse regularisation, chosen by cross-validation, as the two below
WORD_SCALE = 1.5  # of the columns of words, which are 0 or this
LEAST_FEATURE, LEAST_VOTES = 200, 3  # votes that a feature (a word) needs to be a column
# Features of verbs that most votes of training captions lack: empty there is unknown, 0 is written.
LATER = {"first verb", "into behind", "it behind", "only it changes something", "tails that are no place"}
STRICT = {"verb": 5.0, "object": 0.0}  # least weight of a strict vote
READER = 5.0  # weight of a vote with captions
LETTERS = {"natural": (0, "g"), "surely false": (1, "f")}  # question -> place in a vote, letter that says yes


def read(paths: Sequence[Path], kind: Target) -> list[Vote]:
    """The votes of one kind, each with its `features`."""
    votes: list[Vote] = []
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] == kind]
        if rows and "edited" in rows[0]:
            votes += with_features(rows, kind)
            continue
        for row in rows:
            features = {name: float(value) for name, value in list(row.items())[4:] if value}
            votes.append({**row, "features": features, "weight": float(row["weight"])})
    return votes


def with_features(rows: Sequence[dict[str, str]], kind: Target) -> list[Vote]:
    """The votes on the edits that the lexicon proposes today."""
    clips = [(caption, [caption]) for caption in dict.fromkeys(row["original"] for row in rows)]
    proposals = propose(clips, load_counts(), target=kind, quality=0.0, judge=Judge({INTERCEPT: (0.0, 0.0)})).proposals
    features = {(edit.caption, edit.text): edit.features for listed in proposals.values() for edit in listed}
    votes: list[Vote] = []
    for row in rows:
        edit = row["original"], row["edited"]
        if edit in features:
            vote = "bg"[int(row["natural"])] + "mf"[int(row["surely false"])]
            votes.append({"kind": kind, "clip": edit[0], "vote": vote, "weight": READER, "features": features[edit]})
    return votes


class Columns:
    """The table that the models read: features and whether a vote is mild, scaled by those of `rows`; then words."""

    def __init__(self, rows: Sequence[Vote]) -> None:
        counts = Counter(name for row in rows for name in row["features"])
        words = {name for name in counts if name.startswith((PUTS_IN, REPLACES))}
        self.features = sorted(name for name in counts.keys() - words if counts[name] >= LEAST_FEATURE)
        self.words = sorted(name for name in words if counts[name] >= LEAST_VOTES)
        self.places = {name: place for place, name in enumerate(self.words)}
        self.scaler = StandardScaler().fit(self.dense(rows, mild=True))

    def dense(self, rows: Sequence[Vote], *, mild: bool) -> np.ndarray:
        """Features, and whether a vote is mild (`mild`; else none is)."""
        lists = [[r["features"].get(n, np.nan if n in LATER else 0.0) for n in self.features] for r in rows]
        milder = [[mild and r["weight"] < STRICT[r["kind"]]] for r in rows]
        return np.hstack([np.array(lists), np.array(milder)])

    def table(self, rows: Sequence[Vote], *, mild: bool = False) -> csr_matrix:
        """Rows x columns."""
        scaled = np.nan_to_num(self.scaler.transform(self.dense(rows, mild=mild)))  # unknown: the mean
        places = [[self.places[name] for name in row["features"] if name in self.places] for row in rows]
        indices = [place for of_row in places for place in of_row]
        ends = np.cumsum([0, *map(len, places)])
        words = csr_matrix((np.full(len(indices), WORD_SCALE), indices, ends), shape=(len(rows), len(self.words)))
        return hstack([csr_matrix(scaled), words]).tocsr()

    def weights(self, model: LogisticRegression) -> dict[str, float]:
        """The intercept and the weight of each feature and word."""
        scaled = model.coef_[0][: len(self.scaler.scale_)] / self.scaler.scale_
        intercept = float(model.intercept_[0] - (scaled * self.scaler.mean_).sum())
        words = model.coef_[0][len(scaled) :] * WORD_SCALE
        names = (*self.features, *self.words)  # without that of mild votes
        return {INTERCEPT: intercept, **dict(zip(names, (*scaled[:-1], *words), strict=True))}


def answers(rows: Sequence[Vote], question: str) -> np.ndarray:
    """Whether readers said yes to a question."""
    place, letter = LETTERS[question]
    return np.array([row["vote"][place] == letter for row in rows])


def fitted(rows: Sequence[Vote]) -> tuple[Columns, Models]:
    """A model a question; that of truth is trained on natural edits."""
    columns, natural = Columns(rows), answers(rows, "natural")
    models = {}
    for question in QUESTIONS:
        rated = [row for row, is_natural in zip(rows, natural, strict=True) if is_natural or question == "natural"]
        table = columns.table(rated, mild=question == "natural")
        model = LogisticRegression(C=STRENGTH, max_iter=3000)
        models[question] = model.fit(table, answers(rated, question), [row["weight"] for row in rated])
    return columns, models


def probabilities(columns: Columns, models: Models, rows: Sequence[Vote]) -> np.ndarray:
    """Probability that an edit is natural and surely false."""
    table = columns.table(rows)
    first, second = (models[question].predict_proba(table)[:, 1] for question in QUESTIONS)
    return np.asarray(first * second)


def print_fit(name: str, rows: Sequence[Vote], probability: np.ndarray) -> None:
    """Prints area under the curve, and calibration by tenths."""
    usable = answers(rows, "natural") & answers(rows, "surely false")
    print(f"{name}: {len(usable)} pairs, {usable.mean():.2f} usable, AUC {roc_auc_score(usable, probability):.3f}")
    for low in np.arange(0, 1, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        if inside.any():
            print(f"  {low:.1f}-{low + 0.1:.1f}: {inside.sum():4d} pairs, {usable[inside].mean():.2f} usable")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("votes", nargs="+", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines = ["kind\tfeature\tnatural\tsurely false"]
    for kind in TARGETS:
        rows = read(options.votes, kind)
        guessed = np.zeros(len(rows))  # by models that saw no vote on the same clip
        for training, held_out in GroupKFold(10).split(rows, groups=[row["clip"] for row in rows]):
            guessed[held_out] = probabilities(*fitted([rows[n] for n in training]), [rows[n] for n in held_out])
        print_fit(f"{kind} cross-validated", rows, guessed)
        strict = np.array([row["weight"] >= STRICT[kind] for row in rows])
        if 0 < strict.mean() < 1:
            print_fit(f"{kind} of strict votes", [rows[n] for n in np.flatnonzero(strict)], guessed[strict])
        columns, models = fitted(rows)
        natural, false = (columns.weights(models[question]) for question in QUESTIONS)
        for name, weight in natural.items():
            digits = 1 if name.startswith((PUTS_IN, REPLACES)) else 3
            pair = round(weight, digits), round(false[name], digits)
            lines += [f"{kind}\t{name}\t{pair[0]:g}\t{pair[1]:g}"] if any(pair) else []
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
