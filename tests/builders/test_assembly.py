"""Multiple-choice assembly: one true option, one contrast in the place of a random one, never two that say the same."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.builders.assembly import multiple_choice as assembly
from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal, retrieval_rows
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import validate_rows


def clip(name: str, *captions: str, cluster: str = "", pool: str = "") -> CaptionedClip:
    return CaptionedClip(name, name, f"{name}.mp4", captions, cluster or name, pool)


def world(n: int) -> list[CaptionedClip]:
    return [clip(f"v{k}", f"a man does thing {k}", f"someone does thing {k}") for k in range(n)]


words = st.sampled_from(["a man runs", "A man runs.", "a dog eats", "two women sing", "he sits"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(words, min_size=1, max_size=3), min_size=1, max_size=12), st.integers(0, 3))
def test_options_are_of_other_videos_and_never_say_what_a_caption_of_the_clip_says(captions, seed):
    clips = [clip(f"v{n}", *texts, cluster=f"c{n // 2}") for n, texts in enumerate(captions)]
    items, counts = assembly.random_items(clips, seed=seed, candidates=3)
    assert counts["built"] + counts["too_few_other_videos"] == len(clips)
    for item in items:
        row = assembly.random_row(item)
        validate_rows([row])
        said = {normal(text) for text in item.clip.captions}
        others = [text for n, text in enumerate(row["candidates"]) if n != row["label"]]
        assert len({normal(text) for text in others}) == 2 and not said & {normal(text) for text in others}
        assert all(
            any(text in other.captions and other.cluster != item.clip.cluster for other in clips) for text in others
        )


def test_a_contrast_replaces_one_random_option_and_the_others_keep_their_places():
    items, _ = assembly.random_items(world(30))
    for item in items:
        random = assembly.random_row(item)
        edit = Edit(item.true.replace("does", "undoes"), "does", "undoes", item.true.index("does"), "test", True)
        row = assembly.contrast_row(item, item.true, [edit], "verb_lexical")
        changed = [n for n in range(5) if random["candidates"][n] != row["candidates"][n]]
        assert len(changed) == 1 and row["kinds"][changed[0]] == "verb_lexical" and row["label"] == random["label"]
        assert row["replaced"] == random["candidates"][changed[0]]
        record = row["edits"][changed[0]]
        assert record["antonym"] and row["candidates"][changed[0]][record["start"] : record["end"]] == "undoes"
        assert [kind for kind in row["kinds"] if kind == "random"] == ["random"] * 3


def test_a_contrast_that_says_what_a_distractor_says_takes_that_ones_place():
    items, _ = assembly.random_items(world(10))
    item = items[0]
    other = item.distractors[(item.contrast_place + 1) % 4]
    row = assembly.contrast_row(item, item.true, [Edit(other, "x", other, 0, "test")], "gender")
    validate_rows([row])
    assert row["candidates"].count(other) == 1 and row["replaced"] == other


def test_labels_are_spread_over_all_positions():
    items, _ = assembly.random_items(world(500))
    labels = Counter(assembly.random_row(item)["label"] for item in items)
    assert set(labels) == set(range(5)) and max(labels.values()) < 150  # 100 expected, 5 standard deviations


def test_an_item_does_not_depend_on_the_order_of_the_clips_or_on_their_number_in_another_pool():
    clips = world(40)
    other = [clip(f"w{n}", f"thing {n}", pool="elsewhere") for n in range(7)]
    one = {q.clip.id: q for q in assembly.random_items(clips)[0]}
    two = {q.clip.id: q for q in assembly.random_items([*other, *clips])[0]}
    assert all(two[name] == item for name, item in one.items())


def test_distractors_stay_within_the_pool():
    movies = [clip(f"{movie}{n}", f"{movie} scene {n}", pool=movie) for movie in "ab" for n in range(6)]
    for item in assembly.random_items(movies)[0]:
        assert all(text.startswith(item.clip.pool) for text in item.distractors)


def test_too_few_videos_are_counted_not_dropped():
    items, counts = assembly.random_items(world(4))
    assert not items and counts["too_few_other_videos"] == 4


def test_equal_ids_and_too_few_options_are_errors():
    with pytest.raises(UsageError, match="two clips have the id 'v'"):
        assembly.random_items([clip("v", "a"), clip("v", "b")])
    with pytest.raises(UsageError, match="at least 2"):
        assembly.random_items(world(3), candidates=1)


def test_all_negatives_may_be_contrasts():
    edits = [Edit(f"a man {verb}", "runs", verb, 6, "test") for verb in ("sits", "sings", "eats", "cooks", "jumps")]
    rows = [
        assembly.contrasts_only_row(clip(f"v{n}", "a man runs"), "a man runs", edits, "counterfactual")
        for n in range(60)
    ]
    validate_rows(rows)
    assert {row["label"] for row in rows} == set(range(6))
    for row in rows:
        for text, record in zip(row["candidates"], row["edits"], strict=True):
            assert record is None if text == "a man runs" else text[record["start"] : record["end"]] == record["new"]


def test_captions_are_tried_in_an_order_of_their_own():
    orders = {tuple(clip(f"v{n}", *"abcd").caption_order(0)) for n in range(200)}
    assert len(orders) == 24  # all orders of four captions turn up


def test_retrieval_rows_hold_all_captions():
    rows = retrieval_rows(world(3))
    assert validate_rows(rows) == 3 and rows[1]["captions"] == ["a man does thing 1", "someone does thing 1"]
