"""Verb contrasts of generators that propose words: phrases, antonyms, the pipeline."""

import zipfile
from collections import Counter
from importlib.resources import files

import numpy as np
from contrast_verbs import CAPTIONS, IDS, RULES, Listed, contrasts_of, tokens_of
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.antonyms import antonyms, are_antonyms, table
from video_contrast.perturbations.contrast.phrases import choose, phrases
from video_contrast.perturbations.english.forms import verb_tags


def test_one_phrase_is_chosen_by_seed_and_every_verb_has_its_turn():
    found = phrases(tokens_of("a man sits in a car and sings"))
    chosen = Counter(choose(found, np.random.default_rng(seed)).base for seed in range(400))
    assert set(chosen) == {"sit", "sit in", "sing"} and 150 < chosen["sing"] < 250
    assert choose([], np.random.default_rng(0)) is None


def test_the_shipped_antonyms_are_wordnets_477_pairs_with_their_licence():
    folder = files("video_contrast.perturbations.contrast")
    lines = (folder / "antonyms.tsv").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 477
    assert "Princeton University" in (folder / "LICENSES.md").read_text(encoding="utf-8")
    assert all(first in table()[second] for first, others in table().items() for second in others)
    assert antonyms("open") == {"close"} and "push" in antonyms("pull") and antonyms("sing") == frozenset()
    assert (
        are_antonyms("check in", "check out")
        and are_antonyms("sit in", "stand")
        and not are_antonyms("sit in", "stand on")
    )


def test_the_shipped_antonyms_are_those_of_wordnets_own_file(nltk_data):
    pairs = set()
    with zipfile.ZipFile(nltk_data / "corpora" / "wordnet.zip") as archive:
        lines = archive.read("wordnet/data.verb").decode().splitlines()
    synsets = {line.split()[0]: line.split("|")[0].split() for line in lines if not line.startswith(" ")}
    for fields in synsets.values():
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        pointers = fields[5 + 2 * len(words) :]
        for kind, offset, part, places in zip(*(pointers[n::4] for n in range(4)), strict=False):
            if kind == "!" and part == "v":
                other = synsets[offset][4 + 2 * (int(places[2:], 16) - 1)]
                pairs.add(
                    frozenset(
                        (words[int(places[:2], 16) - 1].lower().replace("_", " "), other.lower().replace("_", " "))
                    )
                )
    assert pairs == {frozenset((verb, other)) for verb, others in table().items() for other in others}


def test_contrasts_change_one_phrase_to_a_verb_in_its_form():
    edits, reasons = contrasts_of()
    assert reasons["edited"] == 4
    for caption, edit in zip(CAPTIONS, edits, strict=True):
        assert edit.text == caption.replace(edit.old, edit.new, 1)
        assert edit.text[edit.start : edit.start + len(edit.new)] == edit.new
        assert edit.generator == "listed" and edit.scores["frequency"] > 2
        wanted = next(t.tag for t in tokens_of(caption) if t.text == edit.old.split()[0])
        assert wanted in verb_tags(edit.new.split()[0])  # the form agrees with the sentence


def test_contrasts_depend_on_caption_id_and_seed_alone():
    edits, _ = contrasts_of()
    again, _ = contrasts_of(captions=CAPTIONS[::-1], ids=IDS[::-1])
    assert edits == again[::-1]
    assert [contrasts_of(captions=[c], ids=[i])[0][0] for c, i in zip(CAPTIONS, IDS, strict=True)] == edits
    assert any(contrasts_of(seed=seed)[0] != edits for seed in (1, 2, 3))


def test_several_contrasts_a_caption_differ_and_begin_with_the_one():
    pipeline = verb.Pipeline(Listed(), RULES)
    lists, _ = pipeline.run_many(CAPTIONS, IDS, n=3)
    ones, _ = pipeline.run(CAPTIONS, IDS)
    assert [edits[0] for edits in lists] == ones
    assert all(len({edit.text for edit in edits}) == len(edits) <= 3 for edits in lists)
    assert any(len(edits) == 3 for edits in lists)


def test_every_candidate_is_counted_once_and_every_caption_has_an_outcome():
    captions = [*CAPTIONS, "", " ", "a red ball", "她在跑步", "😀😀", "x" * 10_000, "the man sits. " * 700]
    edits, reasons = contrasts_of(captions=captions, ids=[str(n) for n in range(len(captions))])
    outcomes = sum(reasons[name] for name in ("edited", "empty", "no_verb", "no_proposal", "all_rejected"))
    assert outcomes == len(captions) and reasons["empty"] == 2 and reasons["no_verb"] == 4
    assert reasons["edited"] == sum(edit is not None for edit in edits) == 5
    rejected = sum(reasons[f"candidates:rejected:{name}"] for name in RULES)
    assert reasons["candidates:proposed"] == rejected + reasons["candidates:accepted"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.integers(0, 5))
def test_no_text_is_too_odd(caption, seed):
    edits, reasons = contrasts_of(captions=[caption], ids=["1"], seed=seed)
    assert sum(reasons[name] for name in ("edited", "empty", "no_verb", "no_proposal", "all_rejected")) == 1
    assert edits[0] is None or edits[0].text != caption
