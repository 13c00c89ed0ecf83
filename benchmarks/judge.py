"""Trains the judge of proposed edits on votes of readers, and measures it on clips that it never saw.

    python benchmarks/judge.py VOTES... [--output perturbations/contrast/judge.tsv]

VOTES are tables as `readings/edits.tsv`: `kind` ("verb" or "object"), `clip`, `vote` (wording g, o or b, and truth f, m
or t; usable is "gf"), `weight` (1 to 15: how far a vote is trusted, by what its captions are like; for verbs from 5 on:
captions of other styles than those that were counted, by strict readers, or by readers of each temper, 5 a reader), and
a column a feature, empty where it is 0 (`LATER`: where it is unknown). By how much the readers of other verbs are
milder is learned apart and left out of the weights, so that a probability is what the former say of any captions.
Prints area under the curve and calibration by tenths: cross-validated over clips (votes from 5 on also apart).
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from parts.measuring import parser_of
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from video_contrast.perturbations.contrast.judge import INTERCEPT, QUESTIONS

Vote = dict[str, Any]  # kind, clip, vote, features
STRENGTH = 0.02  # inverse regularisation, chosen by cross-validation
# Features of verbs that most votes of training captions lack: empty there is unknown, 0 is written.
LATER = {"first verb", "into behind", "it behind", "only it changes something"}
STRICT = {"verb": 5.0, "object": 0.0}  # least weight of a strict vote
LETTERS = {"natural": (0, "g"), "surely false": (1, "f")}  # question -> place in a vote, letter that says yes


def read(paths: Sequence[Path], kind: str) -> list[Vote]:
    """The votes of one kind, each with its `features`."""
    listed: list[Vote] = []
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if row["kind"] == kind:
                    features = {name: float(value) for name, value in list(row.items())[4:] if value}
                    listed.append({**row, "features": features, "weight": float(row["weight"])})
    return listed


def table(rows: Sequence[Vote], names: Sequence[str], *, mild: bool = False) -> np.ndarray:
    """Features, rows x names, and whether a vote is mild (`mild`; else none is)."""
    lists = [[r["features"].get(n, np.nan if n in LATER else 0.0) for n in names] for r in rows]
    milder = [[mild and r["weight"] < STRICT[r["kind"]]] for r in rows]
    return np.hstack([np.array(lists), np.array(milder)])


def answers(rows: Sequence[Vote], question: str) -> np.ndarray:
    """Whether readers said yes to a question."""
    place, letter = LETTERS[question]
    return np.array([row["vote"][place] == letter for row in rows])


def fitted(rows: Sequence[Vote], names: Sequence[str]) -> dict[str, Pipeline]:
    """A model a question; that of truth is trained on natural edits."""
    natural = answers(rows, "natural")
    models = {}
    for question in QUESTIONS:
        rated = [row for row, is_natural in zip(rows, natural, strict=True) if is_natural or question == "natural"]
        means = SimpleImputer(strategy="constant", fill_value=0.0)  # of scaled features
        model = make_pipeline(StandardScaler(), means, LogisticRegression(C=STRENGTH, max_iter=2000))
        weights = np.array([row["weight"] for row in rated])
        data = table(rated, names, mild=question == "natural")
        models[question] = model.fit(data, answers(rated, question), logisticregression__sample_weight=weights)
    return models


def probabilities(models: dict[str, Pipeline], rows: Sequence[Vote], names: Sequence[str]) -> np.ndarray:
    """Probability that an edit is natural and surely false."""
    first, second = (models[question].predict_proba(table(rows, names))[:, 1] for question in QUESTIONS)
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
    lines = ["kind\tquestion\tfeature\tweight"]
    for kind in ("verb", "object"):
        rows = read(options.votes, kind)
        names = sorted({name for row in rows for name in row["features"]})
        guessed = np.zeros(len(rows))  # by models that saw no vote on the same clip
        for training, held_out in GroupKFold(10).split(rows, groups=[row["clip"] for row in rows]):
            models = fitted([rows[n] for n in training], names)
            guessed[held_out] = probabilities(models, [rows[n] for n in held_out], names)
        print_fit(f"{kind} cross-validated", rows, guessed)
        strict = np.array([row["weight"] >= STRICT[kind] for row in rows])
        if 0 < strict.mean() < 1:
            print_fit(f"{kind} of strict votes", [rows[n] for n in np.flatnonzero(strict)], guessed[strict])
        models = fitted(rows, names)
        for question, (scaler, _, regression) in models.items():
            weights = regression.coef_[0] / scaler.scale_
            intercept = float(regression.intercept_[0] - (weights * scaler.mean_).sum())
            lines.append(f"{kind}\t{question}\t{INTERCEPT}\t{intercept:.3f}")
            lines += [
                f"{kind}\t{question}\t{name}\t{weight:.3f}"
                for name, weight in zip(names, weights, strict=False)  # but for that of mild votes
                if abs(weight) >= 0.0005
            ]
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
