"""Synthetic negative captions for training (RCAD paper, 4.2): made once, stored as a data set, read by the training.

A file `negatives-SPLIT-KEY.parquet` has one row a training caption (`CaptionNegatives`) with up to k negatives, fewer
where fewer are probable enough. The teacher's cosines stand in a file of their own, `similarities-SPLIT-KEY.parquet`,
so that another teacher needs no new negatives. They are of a sentence encoder, or of latent semantic analysis where
there is none.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from video_contrast.builders.assembly.captioned_clip import (
    CANDIDATES,
    Attempt,
    CaptionedClip,
    ContrastGenerator,
    distinct,
)
from video_contrast.builders.shapes.captions import claim, write
from video_contrast.builders.shapes.contrasts import negatives as of_scene
from video_contrast.builders.shapes.shapes import scene_of
from video_contrast.console import Say, counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, read_json, write_json
from video_contrast.hub import asked_once
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.generate import IMPROBABLE
from video_contrast.perturbations.contrast.generators.llm import UNREADABLE
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.english import PARSER
from video_contrast.perturbations.english.language import LEAST, function_share
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.seeds import Streams, digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.negative_recipe import (
    READY,
    CaptionNegatives,
    ClipRows,
    Corpus,
    NegativeRecipe,
    TaughtCaption,
    check_encoder,
    choice_tables,
    content,
)

Documents = Sequence[Sequence[str]]  # the captions of each clip


def negatives(
    rows: ClipRows, recipe: NegativeRecipe, path: Path, *, corpus: Corpus, say: Say = print
) -> tuple[list[CaptionNegatives], dict[str, int]]:
    """The stored negatives if they were made with the same settings, otherwise made now and stored.

    Returns the captions, and counts: "captions", "negatives", "captions with fewer than requested", "captions with
    none". `path`: where the file begins: `PATH-KEY.parquet`, with the name of the split at its end ("negatives-train");
    its settings stand beside it as `.json`. `corpus`: the captions of each training video, whose words are counted.
    """
    key = digest(*(row["id"] for row in rows), *(text for row in rows for text in row["captions"]))
    words = digest(*chain.from_iterable(corpus.values()))
    settings = recipe.record() | {"set": key.hex(), "corpus": words.hex(), "model": content(recipe.model)}
    if recipe.generator not in READY:
        settings["parser of captions"] = PARSER
    part = path.name.rpartition("-")[2]
    path = path.with_name(f"{path.name}-{digest(str(sorted(settings.items()))).hex()[:12]}.parquet")
    record = path.with_suffix(".json")
    if path.exists() and record.exists() and read_json(record)["settings"] == settings:
        return pq.read_table(path).to_pylist(), read_json(record)["counts"]
    clips = counted(len(rows), "clip")
    by_rules = f", and one of {', '.join(recipe.rules)}" if recipe.rules else ""
    say(f"negatives: {clips}, {recipe.actions} action and {recipe.objects} object captions each{by_rules}")
    reasons: Counter[str] = Counter()
    captions = (
        _of_shapes(rows, recipe) if recipe.generator == "shapes"
        else _of_set(rows, recipe) if recipe.generator == "set"
        else _of_captions(rows, recipe, corpus, reasons)
    )  # fmt: skip
    if not any(row["negatives"] for row in captions):
        examples = ", ".join(row["id"] for row in rows[:3])
        why = why_none([row["caption"] for row in captions], reasons, recipe.generator)
        more = " ..." if len(rows) > 3 else ""
        raise VideoContrastError(f"no negative caption for the {clips} of the {part} part ({examples}{more}): {why}")
    sizes = [len(row["negatives"]) for row in captions]
    counts = {
        "captions": len(captions),
        "negatives": sum(sizes),
        "captions with fewer than requested": sum(size < recipe.total for size in sizes),
        "captions with none": sizes.count(0),
    }
    _write(path, captions)
    write_json(record, {"settings": settings, "counts": counts})
    return captions, counts


def with_similarities(
    captions: Sequence[CaptionNegatives], encoder: str | None, path: Path, *, documents: Documents, say: Say = print
) -> list[TaughtCaption]:
    """Returns the same rows with `teacher`: the cosines of each caption with itself (1) and with its negatives.

    `encoder`: "lsa", fitted on `documents` (the captions of each training clip), or a sentence encoder; None: labels (0
    for each negative), nothing is stored. `path`: where the file begins: `PATH-KEY.parquet`.
    """
    if encoder is None:
        return [{**row, "teacher": [1.0, *(0.0 for _ in row["negatives"])]} for row in captions]
    texts = [text for row in captions for text in (row["caption"], *row["negatives"])]
    key = digest(content(encoder), *(text for document in documents for text in document), "", *texts).hex()
    path = path.with_name(f"{path.name}-{key[:12]}.parquet")
    if path.exists() and len(rows_there := pq.read_table(path).to_pylist()) == len(captions):
        similarities = [row["teacher"] for row in rows_there]
    else:
        encode = load_encoder(encoder, documents)
        say(f"teacher: similarities by {encoder}")
        similarities = cosines(encode, captions)
        rows = [{"id": row["id"], "teacher": similar} for row, similar in zip(captions, similarities, strict=True)]
        _write(path, rows)
    return [{**row, "teacher": similar} for row, similar in zip(captions, similarities, strict=True)]


def _of_shapes(rows: ClipRows, recipe: NegativeRecipe) -> list[CaptionNegatives]:
    """Negatives of the grammar of the shapes world, each checked against the scene."""
    streams = Streams()
    captions = []
    for row in rows:
        scene = scene_of(row["id"])
        # a retrieval row has the usual phrase, and the paraphrase with names
        for number, caption in enumerate(row["captions"]):
            rng = streams.at("teacher negatives", recipe.seed, row["id"], number)
            if write(claim(scene), phrase=number, names=bool(number)) != caption:
                raise VideoContrastError(
                    f"caption {number} of {row['id']} is not what this version says of the clip: {caption!r}; build "
                    "the set again, or give --generator lexicon"
                )
            contrasts = of_scene(scene, claim(scene), rng, phrase=number, names=bool(number))
            actions = [*contrasts["antonym"], *contrasts["verb"]][: recipe.actions]
            in_turn = zip_longest(*(contrasts.get(kind, []) for kind in ("object", "entity", "colour", "role")))
            objects = [text for texts in in_turn for text in texts if text][: recipe.objects]
            captions.append(_with_negatives(row["id"], caption, actions, objects))
    return captions


def _with_negatives(clip: str, caption: str, actions: list[str], objects: list[str]) -> CaptionNegatives:
    kinds = ["action"] * len(actions) + ["object"] * len(objects)
    return {"id": clip, "caption": caption, "negatives": [*actions, *objects], "kinds": kinds}


def _of_set(rows: ClipRows, recipe: NegativeRecipe) -> list[CaptionNegatives]:
    """Negatives of a set that `generate` wrote, by video and caption; a caption that it does not know has none."""
    folder = SetFolder.open(str(recipe.model))
    items = {
        (item["video_id"], item["candidates"][item["label"]]): item
        for config, split in choice_tables(folder)
        for item in folder.choice_rows(config, split)
    }
    captions = []
    for row in rows:
        for caption in row["captions"]:
            item = items.get((row["video_id"], caption))
            pairs = [] if item is None else [*zip(item["candidates"], item["kinds"], strict=True)]
            actions = [text for text, kind in pairs if kind not in ("true", "object", *RULES)][: recipe.actions]
            objects = [text for text, kind in pairs if kind == "object"][: recipe.objects]
            captions.append(_with_negatives(row["id"], caption, actions, objects))
            by_rules = [pair for pair in pairs if pair[1] in recipe.rules]
            captions[-1]["negatives"] += [text for text, _ in by_rules]
            captions[-1]["kinds"] += [kind for _, kind in by_rules]
    return captions


def why_none(texts: Sequence[str], reasons: Mapping[str, int], generator: str) -> str:
    """Why captions have no negatives at all, and what to do; `reasons`: of what fell out, with numbers."""
    if generator == "set":
        return "the set of --generator-model knows none of these videos with these captions"
    of_words = Counter({name.removeprefix(CANDIDATES): n for name, n in reasons.items() if name.startswith(CANDIDATES)})
    most = ", ".join(f"{name} {n}" for name, n in of_words.most_common() if n)
    if function_share(texts) < LEAST:
        advice = "the captions do not look English, and only such ones get negatives; --generator set takes yours"
    elif of_words[UNREADABLE] and not of_words[IMPROBABLE]:
        advice = "the chat model does not answer as asked: another --generator-model may"
    else:
        advice = "--quality all asks less of a negative"
    left_out = f"left out by {most}" if most else "none holds an action that can be swapped"
    return f"{left_out}; {advice}"


def _of_captions(
    rows: ClipRows, recipe: NegativeRecipe, corpus: Corpus, reasons: Counter[str]
) -> list[CaptionNegatives]:
    """Negatives of the generators of the contrast sets, the surest edits first."""
    attempts = attempts_of(rows)
    captions = [_with_negatives(attempt.clip.id, attempt.caption, [], []) for attempt in attempts]
    with parse_cache():
        for source, kind, count in recipe.sources(corpus):
            for row, of_caption in zip(captions, edits_of(source, attempts, count, reasons), strict=True):
                row["negatives"] += [edit.text for edit in of_caption]
                row["kinds"] += [kind] * len(of_caption)
    return captions


def corpus_of(rows: ClipRows) -> dict[str, list[str]]:
    """The captions of each video."""
    corpus: dict[str, list[str]] = {}
    for row in rows:
        corpus.setdefault(row["video_id"], []).extend(row["captions"])
    return corpus


def attempts_of(rows: ClipRows) -> list[Attempt]:
    """Returns every caption of the rows, in the form that generators of contrasts take."""
    clips = [
        CaptionedClip(
            row["id"], row["video_id"], row["video_path"], captions=tuple(row["captions"]), cluster=row["video_id"]
        )
        for row in rows
    ]
    return [Attempt(clip, number) for clip in clips for number in range(len(clip.captions))]


def edits_of(
    source: ContrastGenerator, attempts: Sequence[Attempt], count: int, reasons: Counter[str] | None = None
) -> list[list[Edit]]:
    """Returns up to `count` edits of each caption that say different things, none of which its clip's captions say.

    `source`: of `NegativeRecipe.sources`. `reasons`: counts what is left out, by reason.
    """
    proposals, left_out = source(attempts)
    if reasons is not None:
        reasons.update(left_out)
    return [distinct(*pair)[:count] for pair in zip(attempts, proposals, strict=True)]


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(list(rows)), temporary, compression="zstd")


DIMENSIONS = 64
Encode: TypeAlias = Callable[[Sequence[str]], npt.NDArray[np.float32]]  # n texts to float32[n, d]


def latent_semantics(documents: Documents) -> Encode:
    """Latent semantic analysis of the training captions: which words are said of the same clips.

    The captions of one clip are one document, so words that describe one thing in two ways ("rises", "goes up") come
    close, and words that never describe the same clip ("rises", "falls") do not, however alike their sentences are.
    `documents`: the captions of each clip. Raises UsageError: fewer than two clips, or captions without words.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    try:
        table = vectorizer.fit_transform([" . ".join(captions) for captions in documents])
    except ValueError as error:
        raise UsageError(f"the captions are too few for --encoder lsa ({error}); give a sentence encoder") from error
    size = min(DIMENSIONS, min(table.shape) - 1)
    if size < 1:
        raise UsageError("--encoder lsa needs words that captions of several clips share; give a sentence encoder")
    svd = TruncatedSVD(size, random_state=0).fit(table)
    # Directions count by how much they explain, damped: else the commonest words decide alone.
    weights = svd.singular_values_ / svd.singular_values_[0]
    words = (svd.components_ * np.sqrt(weights)[:, None]).T.astype(np.float32)
    return lambda texts: np.asarray(vectorizer.transform(texts) @ words, np.float32)


def load_encoder(name: str, documents: Documents) -> Encode:
    """The encoder called `name`: "lsa", fitted on `documents` (the captions of each clip), or a sentence encoder.

    Raises VideoContrastError: the model cannot be loaded.
    """
    if name == "lsa":
        return latent_semantics(documents)
    check_encoder(name)
    from sentence_transformers import SentenceTransformer

    try:
        with asked_once(name):
            model = SentenceTransformer(name)
    except (OSError, ValueError, RuntimeError) as error:
        raise VideoContrastError(f"--encoder {name} cannot be loaded as a sentence encoder: {error}") from error
    return lambda texts: np.asarray(model.encode(list(texts), batch_size=64, show_progress_bar=False), np.float32)


def cosines(encode: Encode, rows: Sequence[CaptionNegatives]) -> list[list[float]]:
    """Returns those of each row's caption with itself (1) and with each of its negatives.

    Every distinct text is encoded once. Raises VideoContrastError: the encoder's vectors are not numbers, or not one a
    text.
    """
    texts = list(dict.fromkeys(text for row in rows for text in (row["caption"], *row["negatives"])))
    vectors = encode(texts)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise VideoContrastError(f"the teacher's encoder gave {vectors.shape} for {len(texts)} texts, or not numbers")
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    at = {text: n for n, text in enumerate(texts)}
    similarities = []
    for row in rows:
        own = vectors[at[row["caption"]]]
        rest = vectors[[at[text] for text in row["negatives"]]] @ own if row["negatives"] else np.zeros(0)
        similarities.append([1.0, *(float(value) for value in rest)])
    return similarities
