"""Edited clips: what is false is so by the edit, nothing is won blindly, and what does not suit is counted."""

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_captions import write_youcook2_list

import video_contrast
from tests.support.video_files import turn_pictures, write_clip
from video_contrast.builders.assembly.reasons import LEFT_OUT, REASONS, counts_in_words
from video_contrast.builders.clip_edits.backwards import backwards
from video_contrast.builders.clip_edits.edits import EDITS, mirrored
from video_contrast.builders.clip_edits.source_clip import WHEN, LeftOut, motion_of
from video_contrast.builders.shapes.captions import PHRASES, claim, verdict, write
from video_contrast.builders.shapes.shapes import SceneClip, scene_of
from video_contrast.builders.shapes.world import REVERSE, Scene, scenes
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub_cards.publishing import plan_set
from video_contrast.video import Clip, index_of, write_video

CLIPS = 24


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of the shapes world, and a table of their captions; no caption is true of another clip."""
    root = tmp_path_factory.mktemp("world")
    video_contrast.build("shapes", ["retrieval"], output=root, items=1, gallery=CLIPS)
    rows = video_contrast.open_set(root).retrieval_rows("retrieval", "test")
    table(root / "clips.csv", [(row["video_path"], row["captions"][0], row["id"]) for row in rows])
    return root


@pytest.fixture(scope="module")
def edits(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(world, tmp_path_factory.mktemp("edits") / "set")


def table(path: Path, rows: Sequence[tuple[Any, ...]], names: str = "video,caption,id") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names.split(","), *rows])


def build(root: Path, output: Path, kinds: list[str] | None = None, **options: Any) -> Path:
    options = {"captions": str(root / "clips.csv"), "id_column": "id", "video_root": root, **options}
    return video_contrast.build("clip_edits", kinds, output=output, **options)


def rows_of(folder: Path, kind: str) -> list[Any]:
    return list(video_contrast.open_set(folder).choice_rows(kind, "test"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_some_groups_are_a_seeded_sample_of_all(edits: Path, world: Path, tmp_path: Path) -> None:
    groups = [row["group"] for row in rows_of(edits, "order")][::2]
    few = [row["group"] for row in rows_of(build(world, tmp_path / "few", ["order"], items=4), "order")][::2]
    assert len(few) == 4 < len(groups) and set(few) < set(groups)
    assert few != groups[:4]


def test_parts_of_a_clip_are_the_same_whatever_is_put_in_between(world: Path, tmp_path: Path) -> None:
    rows = rows_of(build(world, tmp_path / "set", ["needle"], partners=6), "needle")
    parts: dict[str, set[tuple[float, float]]] = {}
    for row in rows:
        files = [part for part in row["segments"] if part["video_path"]]
        for name, part in zip(("before", "span", "behind"), files, strict=True):
            parts.setdefault(f"{part['video_path']} {name}", set()).add((part["start"], part["end"]))
    assert len(rows) > 3 * CLIPS / 3 and max(map(len, parts.values())) == 1


def test_a_file_under_two_names_is_one_clip(world: Path, tmp_path: Path) -> None:
    with (world / "clips.csv").open(encoding="utf-8") as file:
        first, second = list(csv.reader(file))[1:3]
    for name in ("copy.mp4", "other.mp4"):
        (tmp_path / name).write_bytes((world / first[0]).read_bytes())
    (tmp_path / "second.mp4").write_bytes((world / second[0]).read_bytes())
    names = [("copy.mp4", first[1]), ("other.mp4", "somebody does something else"), ("second.mp4", second[1])]
    table(tmp_path / "clips.csv", [(name, text, name) for name, text in names])
    folder = build(tmp_path, tmp_path / "set", ["order", "count"], partners=4)
    facts = json.loads((folder / "set.json").read_text())["facts"]
    assert facts["counts"]["copies_of_another_clip"] == 1
    assert len(rows_of(folder, "count")) == 2 * 3
    assert len(rows_of(folder, "order")) == 2


# --- what is said is true, and what is false is false, by the shapes world's own checker ---


def shown(row: Any) -> list[Scene]:
    """The scene of each part that is no pause, as it is shown."""
    out = []
    for part in row["segments"]:
        if part["video_path"]:
            _, split, number = re.fullmatch(r"clips/(\w+-\d+)/((\d+)r?)\.mp4", part["video_path"]).group(0, 1, 2)  # type: ignore[union-attr]
            scene = scene_of(f"{split}-{number}")
            scene = scene.reversed() if part["reversed"] else scene
            out.append(scene.mirrored() if part["mirrored"] else scene)
    return out


def said(form: str, text: str) -> dict[str, str]:
    """What stands in the places of a form."""
    names = re.findall(r"\{(\w+)\}", form)
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<p\1>.+)", re.escape(form))
    match = re.fullmatch(pattern, text)
    assert match, (form, text)
    return {name: match[f"p{name}"] for name in names}


def truth_of(kind: str, row: Any, text: str) -> bool:
    """Whether a caption is true of an edited clip; fails where the checker is in doubt."""
    scenes, meta = shown(row), json.loads(row["meta"])
    words = said(meta["form"], text) if "form" in meta else {}

    def holds(scene: Scene, caption: str) -> bool:
        found = verdict(scene, caption)
        assert found != "unclear", (kind, caption, scene)
        return found == "true"

    if kind == "order":
        return holds(scenes[0], words["0"]) and holds(scenes[1], words["1"])
    if kind == "count":
        times = {"once": 1, "twice": 2, "three times": 3}[words["times"]]
        return all(holds(scene, words["caption"]) for scene in scenes) and times == len(scenes)
    if kind in ("reversal", "mirror"):
        return holds(scenes[0], text)
    if kind == "speed":
        return holds(scenes[0], words["caption"]) and (words["speed"] == "slow") == (row["segments"][0]["speed"] < 1)
    if kind == "place":
        at = 0 if words["place"] == "beginning" else -1
        return holds(scenes[at], words["caption"]) and not holds(scenes[-1 - at], words["caption"])
    if kind == "identity":
        goes_on = holds(scenes[1], words["caption"])
        return holds(scenes[0], words["caption"]) and goes_on == ("same" in words["what"])
    assert kind == "needle"
    return holds(scenes[0], words["host"]) and holds(scenes[2], words["host"]) and holds(scenes[1], words["needle"])


@pytest.mark.parametrize("kind", EDITS)
def test_each_caption_is_true_of_its_clip_alone(edits: Path, kind: str) -> None:
    rows = rows_of(edits, kind)
    assert len(rows) >= 8
    for row in rows:
        verdicts = [truth_of(kind, row, text) for text in row["candidates"]]
        assert verdicts == [n == row["label"] for n in range(len(verdicts))], row["id"]
        truth = json.loads(row["meta"])["truth"]
        assert truth["shown"] and truth["false"][row["label"]] is None
        assert all(truth["false"][n] for n in range(len(verdicts)) if n != row["label"])


@pytest.mark.parametrize("kind", EDITS)
def test_nothing_is_won_without_the_video(edits: Path, kind: str) -> None:
    audit = video_contrast.open_set(edits).record["configs"][kind]["facts"]["audit"]
    found = {key: value["accuracy"] for key, value in audit.items() if isinstance(value, dict)}
    assert found and all(accuracy == pytest.approx(audit["chance"], abs=1e-4) for accuracy in found.values())


def test_equal_input_gives_equal_bytes_and_another_seed_other_pairs(edits: Path, world: Path, tmp_path: Path) -> None:
    assert contents(build(world, tmp_path / "again")) == contents(edits)
    other = rows_of(build(world, tmp_path / "other", ["order"], seed=1), "order")
    assert {row["group"] for row in other} != {row["group"] for row in rows_of(edits, "order")}


def test_every_clip_is_used_or_counted(edits: Path) -> None:
    record = video_contrast.open_set(edits).record
    for kind in EDITS:
        used = {name for row in rows_of(edits, kind) for name in json.loads(row["meta"])["clips"]}
        counts = record["configs"][kind]["facts"]["splits"]["test"]["counts"]
        assert len(used) + sum(counts.values()) == CLIPS, (kind, counts)


# --- scoring ---


@pytest.fixture(scope="module")
def scored(edits: Path, world: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("run")
    kinds = ["order", "count", "reversal", "place", "needle"]
    return video_contrast.score(
        "bag-of-frames", edits, kinds, video_root=world, store=place / "store", output=place / "run", frames=8
    )


def test_a_bag_of_frames_ties_exactly_where_only_order_and_direction_tell(scored: Any) -> None:
    for kind in ("order", "reversal", "place"):
        numbers = scored[kind]["conditions"]["clean"]
        assert numbers["accuracy"] == 0.5 and numbers["group_score"] == 0.0, kind
    of_group: dict[str, list[list[float]]] = {}
    for row in scored.scores:
        if row["config"] in ("order", "reversal"):
            of_group.setdefault(row["group"], []).append(row["scores"])
    assert all(one == other for one, other in of_group.values())


def test_edits_that_reuse_frames_cost_little_more_than_their_source_clips(scored: Any, world: Path) -> None:
    counters = scored.record["counters"]
    assert counters["visual_encodings"] == 0
    assert counters["frame_encodings"] <= 1.3 * CLIPS * 8
    assert counters["frame_encodings"] < 8 * counters["visual_encodings_in_all"] / 3
    assert counters["frames_decoded"] <= sum(index_of(file).n_frames for file in world.rglob("*.mp4"))


def test_frames_are_shared_by_clips_of_many_sizes_and_lengths(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts = {"a cat eats": (32, 48), "two dogs sleep": (48, 32), "a man runs": (40, 40), "a car turns": (64, 96)}
    for number, size in enumerate(texts.values()):
        frames = rng.integers(0, 255, (30 + 9 * number, *size, 3)).astype(np.uint8)
        write_video(tmp_path / f"{number}.mp4", frames, 10)
    table(tmp_path / "clips.csv", [(f"{n}.mp4", text, str(n)) for n, text in enumerate(texts)])
    kinds = ["order", "count", "needle"]
    folder = build(tmp_path, tmp_path / "set", kinds, partners=3, transition="cut")
    options: dict[str, Any] = {"video_root": tmp_path, "frames": 8, "accept": "all"}
    run = video_contrast.score("bag-of-frames", folder, kinds, store=tmp_path / "all", **options)
    assert len(run.scores) == 30 and run.record["n_missing"] == 0
    assert run.record["counters"]["frame_encodings"] <= 1.3 * len(texts) * 8
    assert run.record["edited_clips"]["frames"] == "grid 2" and "own" in run.record["edited_clips"]["sizes"]
    # What else is scored, and was stored before, changes no score.
    alone = video_contrast.score("bag-of-frames", folder, ["needle"], store=tmp_path / "alone", **options)
    together = [row for row in run.scores if row["config"] == "needle"]
    assert [row["scores"] for row in alone.scores] == [pytest.approx(row["scores"], abs=1e-6) for row in together]
    assert [{**row, "scores": []} for row in alone.scores] == [{**row, "scores": []} for row in together]


def test_a_model_of_time_tells_a_clip_from_its_reversal(edits: Path, world: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"video_root": world, "store": tmp_path, "accept": "all"}
    run = video_contrast.score("temporal", edits, ["reversal"], limit=30, **given)
    assert run["reversal"]["conditions"]["clean"]["accuracy"] > 0.8


def test_what_a_sampling_does_not_show_is_left_out_and_counted(world: Path, tmp_path: Path) -> None:
    small = build(world, tmp_path / "set", ["needle"], needle=0.2, items=3)
    arguments: dict[str, Any] = {"video_root": world, "store": tmp_path / "store", "accept": "all"}
    with pytest.raises(VideoContrastError, match="unseen at this sampling"):
        video_contrast.score("bag-of-frames", small, ["needle"], frames=4, **arguments)
    shown = video_contrast.score("bag-of-frames", small, ["needle"], frames=12, **arguments)
    assert len(shown.scores) == len(rows_of(small, "needle")) and "n_unseen" not in shown.record


def test_groups_are_left_out_whole(edits: Path, world: Path, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"video_root": world, "store": tmp_path, "frames": 5, "accept": "all"}
    with pytest.raises(VideoContrastError, match=r"no edited clip of the config count is shown whole: unseen"):
        video_contrast.score("bag-of-frames", edits, ["count"], **arguments)  # three times are too many
    run = video_contrast.score("bag-of-frames", edits, ["count", "reversal"], **arguments)
    assert list(run.metrics["configs"]) == ["reversal"] and "unseen" in run.record["skipped"]["count"]
    assert len(run.scores) == len(rows_of(edits, "reversal"))


# --- input that does not suit ---


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short clip, one at a variable rate, one of another size, a broken file, and a still one."""
    root = tmp_path_factory.mktemp("odd")
    write_clip(root / "short.mkv", n_frames=8)
    write_clip(root / "long.mkv", n_frames=60)
    write_clip(root / "uneven.mkv", n_frames=60, shown_at=lambda n: n + 4 * (n // 7))
    rng = np.random.default_rng(0)
    write_video(root / "wide.mp4", rng.integers(0, 255, (30, 32, 96, 3)).astype(np.uint8), 10)
    write_video(root / "still.mp4", np.full((30, 32, 32, 3), 90, np.uint8), 10)
    (root / "broken.mp4").write_bytes(b"no video")
    return root


def test_odd_clips_are_counted_by_reason(odd: Path, tmp_path: Path) -> None:
    table(
        odd / "clips.csv",
        [
            ("short.mkv", "a cat jumps onto a table", "short"),
            ("long.mkv", "a man opens the left door", "long"),
            ("uneven.mkv", "two dogs sleep on a sofa", "uneven"),
            ("wide.mp4", "a woman slices bread", "wide"),
            ("still.mp4", "a boy closes a window", "still"),
            ("broken.mp4", "a car is parked", "broken"),
            ("missing.mp4", "a bus is parked", "missing"),
        ],
    )
    record = video_contrast.open_set(build(odd, tmp_path / "set")).record
    assert record["facts"]["counts"] | {"unreadable_clips": 2, "clips_of_variable_rate": 1} == record["facts"]["counts"]
    counts = {kind: entry["facts"]["splits"]["test"]["counts"] for kind, entry in record["configs"].items()}
    assert counts["count"] == {"too_short": 1}
    assert counts["speed"] == {"stands_still": 1, "too_short": 1}
    assert counts["mirror"] == {"no_side": 4}
    assert (
        "clip looks the same backwards" in str(record["facts"])
        or "clip stands still" in str(record["facts"])
        or "reversal" in counts
    )
    assert counts["order"].get("too_short", 0) == 1


def test_turned_pictures_are_counted_as_they_are_shown(tmp_path: Path) -> None:
    for name in ("upright.mp4", "turned.mp4"):
        write_clip(tmp_path / name, n_frames=40, sound=3.0)
    turn_pictures(tmp_path / "turned.mp4")
    table(tmp_path / "clips.csv", [("upright.mp4", "a man runs", "a"), ("turned.mp4", "two dogs sleep", "b")])
    folder = build(tmp_path, tmp_path / "set", ["order"], transition="cut")
    assert json.loads((folder / "set.json").read_text())["facts"]["counts"]["sizes_of_picture"] == 2
    given: dict[str, Any] = {"store": tmp_path / "store", "frames": 8, "accept": "all"}
    run = video_contrast.score("bag-of-frames", folder, video_root=tmp_path, **given)
    assert len(run.scores) == 2 and run.record["n_missing"] == 0


def test_clips_of_one_size_are_joined_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = {"a cat eats": (32, 48), "two dogs sleep": (32, 64), "a man runs": (32, 48), "a car turns": (32, 64)}
    for number, size in enumerate(sizes.values()):
        pictures = rng.integers(60 * number, 60 * number + 60, (20, *size, 3))  # each of colours of its own
        write_video(tmp_path / f"{number}.mp4", pictures.astype(np.uint8), 10)
    table(tmp_path / "clips.csv", [(f"{n}.mp4", text, str(n)) for n, text in enumerate(sizes)])
    for seed in range(3):
        rows = rows_of(build(tmp_path, tmp_path / f"set-{seed}", ["order"], seed=seed), "order")
        joined = {frozenset(json.loads(row["meta"])["clips"]) for row in rows}
        assert joined == {frozenset("02"), frozenset("13")}
    # Where a cut would change the size of the picture, the size alone would tell that another scene follows.
    table(tmp_path / "clips.csv", [(f"{n}.mp4", text, str(n)) for n, text in enumerate(sizes) if n != 3])
    opened = video_contrast.open_set(build(tmp_path, tmp_path / "few", ["identity", "order"], partners=2))
    assert {frozenset(json.loads(row["meta"])["clips"]) for row in rows_of(opened.path, "identity")} == {
        frozenset("02")
    }
    assert opened.record["configs"]["identity"]["facts"]["splits"]["test"]["counts"]["no_partner_of_its_size"] == 1


def test_captions_that_say_the_same_are_never_joined(odd: Path, tmp_path: Path) -> None:
    table(odd / "clips.csv", [("long.mkv", "A man runs.", "a"), ("uneven.mkv", "a man runs", "b")])
    with pytest.raises(
        VideoContrastError,
        match=r"suits any of the edits: order \(1 clip has a caption of another clip; 1 clip has no other clip to be",
    ):
        build(odd, tmp_path / "set", ["order"])
    table(odd / "clips.csv", [("long.mkv", "a man runs", "a"), ("uneven.mkv", "a man runs on grass", "b")])
    with pytest.raises(VideoContrastError, match="1 clip has captions that may be true of others"):
        build(odd, tmp_path / "set", ["order"])
    assert not (tmp_path / "set").exists()


def test_captions_that_say_it_by_themselves_are_left_out(odd: Path, tmp_path: Path) -> None:
    table(
        odd / "clips.csv",
        [
            ("long.mkv", "slow motion of a man who runs twice and then sits", "a"),
            ("uneven.mkv", "two dogs sleep", "b"),
            ("uneven.mkv", "a dog sleeps. It snores", "b"),
        ],
    )
    record = video_contrast.open_set(build(odd, tmp_path / "set", ["count", "speed"])).record
    counts = {kind: entry["facts"]["splits"]["test"]["counts"] for kind, entry in record["configs"].items()}
    assert counts == {"count": {"says_how_often": 1}, "speed": {"says_how_fast": 1}}
    with pytest.raises(VideoContrastError, match="has only captions that say when"):
        build(odd, tmp_path / "no", ["order"])


def test_sloppy_captions_stand_well_in_a_sentence(odd: Path, tmp_path: Path) -> None:
    table(odd / "clips.csv", [("long.mkv", "A MAN RUNS !", "a"), ("uneven.mkv", "Young dogs sleep , snoring..", "b")])
    rows = rows_of(build(odd, tmp_path / "set", ["count"]), "count")
    texts = " ".join(text for row in rows for text in row["candidates"])
    assert "a man runs" in texts and "young dogs sleep, snoring" in texts
    table(odd / "clips.csv", [("long.mkv", "close the window", "a"), ("uneven.mkv", "stir the soup", "b")])
    texts = " ".join(row["candidates"][0] for row in rows_of(build(odd, tmp_path / "orders", ["order"]), "order"))
    assert "stir the soup" in texts and not texts.startswith(("before ", "after "))  # "before close the window, ..."


def test_captions_without_a_word_make_no_clip(odd: Path, tmp_path: Path) -> None:
    rows = [("long.mkv", "...", "a"), ("uneven.mkv", "a man runs", "b"), ("uneven.mkv", " ! ", "b")]
    table(odd / "clips.csv", rows)
    folder = build(odd, tmp_path / "set", ["count"])
    facts = json.loads((folder / "set.json").read_text())["facts"]
    assert facts["counts"]["clips_without_words"] == 1
    assert all("man runs" in text for row in rows_of(folder, "count") for text in row["candidates"])
    table(odd / "clips.csv", rows[:1])
    with pytest.raises(VideoContrastError, match=r"clips\.csv: no caption has a word"):
        build(odd, tmp_path / "none", ["count"])


def test_one_clip_alone_has_no_partner_and_can_still_be_repeated(odd: Path, tmp_path: Path) -> None:
    table(odd / "clips.csv", [("long.mkv", "a man runs", "a")])
    folder = video_contrast.open_set(build(odd, tmp_path / "set"))
    assert folder.configs == ["count", "speed"]
    assert "1 clip has no other clip to be joined with" in folder.record["facts"]["left_out"]["order"]


def test_wrong_calls_are_told(odd: Path, tmp_path: Path) -> None:
    for options, problem in (
        ({"video_root": odd / "nowhere"}, "no such folder"),
        ({"needle": 0.9}, "--needle must be from 0.01 to 0.5"),
        ({"shortest": 20.0}, "--shortest 20 is longer than --seconds 10"),
        ({"items": 0}, "--items must be at least 1"),
    ):
        with pytest.raises(UsageError, match=re.escape(problem)):
            build(odd, tmp_path / "set", ["count"], **options)


def test_a_set_is_published_with_the_videos_of_its_recipes(edits: Path, world: Path) -> None:
    shown = {part["video_path"] for kind in EDITS for row in rows_of(edits, kind) for part in row["segments"]}
    push = plan_set(edits, with_videos=True, video_root=world, licence="cc0-1.0")
    assert {path for path, _ in push.videos} == shown - {""}
    remembered = plan_set(edits, with_videos=True, licence="cc0-1.0")  # the set knows its video root
    assert [path for path, _ in remembered.videos] == [path for path, _ in push.videos]


def test_written_clips_need_no_recipe(world: Path, tmp_path: Path) -> None:
    folder = build(world, tmp_path / "set", ["order", "speed"], write_videos=True, items=2, transition="fade")
    rows = [row for kind in ("order", "speed") for row in rows_of(folder, kind)]
    assert all("segments" not in row and (folder / row["video_path"]).is_file() for row in rows)
    assert video_contrast.open_set(folder).validate()
    given: dict[str, Any] = {"store": tmp_path / "store", "frames": 8, "accept": "all"}
    run = video_contrast.score("bag-of-frames", folder, ["order"], **given)
    assert len(run.scores) == 4


# --- the parts ---


def test_captions_run_backwards_as_their_scenes_do() -> None:
    rewritten, told = Counter[str](), Counter[str]()
    for scene in scenes(0, "train", 400):
        for phrase in (0, 1):
            caption = write(claim(scene), phrase=phrase)
            told[scene.action] += 1
            with suppress(LeftOut):
                text = backwards(caption).caption
                assert verdict(scene.reversed(), text) == "true", caption
                rewritten[scene.action] += 1
    assert all(rewritten[action] > told[action] / 2 for action in REVERSE)
    assert not any(rewritten[action] for action in PHRASES if action not in REVERSE)


@pytest.mark.parametrize(
    ("caption", "reversed_"),
    [
        ("a man is putting a pan into the oven", "a man is taking a pan out of the oven"),
        ("A woman opened the fridge.", "A woman closed the fridge."),
        ("the girl takes her hat off", "the girl puts her hat on"),
        ("two people walk into a house", "two people walk out of a house"),
        ("a man opens a door and walks in", None),
        ("a person plays the guitar", None),
        ("someone pushes a cart up a hill", None),
        ("a man raises his hand to his face", None),
        ("a man turns the light on", "a man turns the light off"),
        ("a dog runs back and forth", None),
        ("put the mixture into the oven", "take the mixture out of the oven"),
    ],
)
def test_a_verb_gives_way_to_its_counterpart_in_the_same_form(caption: str, reversed_: str | None) -> None:
    if reversed_ is None:
        with pytest.raises(LeftOut, match=r"no_direction_verb|more_than_one_action|says_where_it_goes"):
            backwards(caption)
    else:
        assert backwards(caption).caption == reversed_


@pytest.mark.parametrize(
    "caption",
    [
        "a band covers a song on guitar",
        "a cartoon cat turns into a monster",
        "patrick and bob appear with a skeleton",
        "a man is riding on his horse into the distance",
        "roll the mixture into balls",
        "a magnificent opening ceremony",
        "a person jumps off a cliff into the ocean",
        "a beautiful small tree with a lot of yellow leaves",
        "a woman walking out in a green bikini",
        "the bride with a veil covering her face",
        "put the chicken into the bowl of sauce and mix",
        "a man is covered in foam",
        "a train is loaded with items",
        "a man is filling a cup with water",
        "a boy does not open the box",
        "a man falls asleep",
        "two men approach",
        "cars take off in a lane on a street",
        "the man puts on a show",
        "a man walks in the park",
        "a person gets in a fight",
        "a model walks down the runway",
        "cars are riding down the street",
        "it appears to be a tennis match",
        "a device is lying down on a table",
        "a man putting flowers by a tombstone in a video game",
        "a car running head on into a bus",
        "a man pushes a button",
        "a man is leaving flowers at a grave",
        "many trees grow beside a hill",
        "a track contestant pulls ahead of his opponents",
        "different ways to approach the house",
        "people are falling while doing tricks",
        "a racecar jumps up on the racetrack",
        "a man returns",
        "a man enters the room again",
        "a man walks back into the house",
        "a soldier opens fire",
        "a dog pulls on a leash",
        "mountains rise above the lake",
        "a golfer sinks a putt",
        "a woman removes the lid from the pot",
        "a boy gets up",
        "snow covers the ground",
        "a man jumps up",
        "a person drops down",
        "a man goes down on one knee",
        "a man is about to open a box",
        "a girl runs into a guy in a hallway",
        "blue items fall on him",
        "her car which she got on the web",
        "young girls putting a toy together on a table",
        "cartoon characters leave in planes",
        "a woman walks to the left of the table",
        "a man with no hat puts on a hat",
        "cover the pan and simmer",
        "she puts the cake in",
        "put mayonnaise on top of two slices",
        "cover the chicken in flour",
    ],
)
def test_a_verb_in_another_sense_has_no_counterpart(caption: str) -> None:
    with pytest.raises(LeftOut):
        backwards(caption)


@pytest.mark.parametrize(
    "caption",
    [
        "a man opens the closed door",
        "a man opens a locked box",
        "a waiter fills the empty glass",
        "a boy puts on his hat that was off",
        "a man opens a door that is already open",
        "a sitting dog stands up",
        "a shirtless man puts on a shirt",
        "a rising balloon falls",
        "a tiny balloon inflates",
        "two men lift a fallen tree",
        "a man wearing a hat takes off his hat",
        "a man leaves the door open",
    ],
)
def test_a_caption_that_says_a_state_is_not_played_backwards(caption: str) -> None:
    with pytest.raises(LeftOut, match="says_a_state"):
        backwards(caption)


def test_ways_out_lead_in() -> None:
    assert backwards("a woman is walking out of the house").caption == "a woman is walking into the house"


@pytest.mark.parametrize(
    "caption",
    [
        "the gate is being opened",
        "a kid rolls down a hill",
        "a man climbs up the ladder",
        "a lion approaches a zebra",
        "a man is putting water into a dish",
        "she puts a pan in the oven",
        "a woman enters a room",
        "a boy walks in",
        "a balloon rises above the sea",
        "a woman opens a wooden door",
        "a man to the left of a tree vanishes",
    ],
)
def test_a_verb_in_its_own_sense_has_one(caption: str) -> None:
    assert backwards(caption).caption != caption


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("a man on the left and a woman on right", "not_understood"),
        ("his left and right legs move", "not_understood|alike"),
        ("she moves to the left and to the right", "alike"),
        ("a man on the left side and another man on the right side", "alike"),
        ("a man looks right, then left", "not_understood"),
    ],
)
def test_captions_that_a_mirror_makes_no_falser_are_left_out(caption: str, reason: str) -> None:
    with pytest.raises(LeftOut, match=reason):
        mirrored(caption)


def test_turns_are_written_in_many_ways() -> None:
    for turn in ("counter clockwise", "counter-clockwise", "anticlockwise"):
        assert mirrored(f"a wheel rotates {turn}").caption == "a wheel rotates clockwise"
        assert backwards(f"a wheel rotates {turn}").caption == "a wheel rotates clockwise"


def test_sides_keep_their_case() -> None:
    assert mirrored("Left hand of a man").caption == "Right hand of a man"
    assert mirrored("A MAN LIFTS HIS LEFT HAND").caption == "A MAN LIFTS HIS RIGHT HAND"


def test_sides_are_exchanged_where_they_are_sides() -> None:
    assert mirrored("a man on the left raises his right hand").caption == "a man on the right raises his left hand"
    assert mirrored("cars drive from left to right").caption == "cars drive from right to left"
    for caption in ("the man left the room", "he is right", "a dog runs"):
        with pytest.raises(LeftOut, match="no_side"):
            mirrored(caption)


def test_motion_to_and_fro_looks_the_same_backwards(tmp_path: Path) -> None:
    found: dict[bool, list[float]] = {True: [], False: []}
    wanted = [
        scene for scene in scenes(0, "train", 60) if scene.action in ("bounces", "shakes", "rises", "pushes", "leaves")
    ]
    for number, scene in enumerate(wanted[:12]):
        SceneClip(scene, 0, "train", number).write(tmp_path / "clip.mp4")
        found[scene.action not in REVERSE].append(motion_of(tmp_path, Clip("clip", "clip.mp4")).asymmetry)
        (tmp_path / "clip.mp4").unlink()
    assert max(found[True]) < 0.3 and min(found[False]) > 0.6, found


def test_steps_of_one_video_stand_in_their_real_order(tmp_path: Path) -> None:
    with write_youcook2_list(tmp_path / "validation_youcook.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, name in enumerate(sorted({row["video_id"] for row in rows})):
        pictures = np.random.default_rng(number).integers(0, 255, (600, 16, 16, 3)).astype(np.uint8)
        write_video(tmp_path / f"{name}.mp4", pictures, 1.0)
    table(
        tmp_path / "clips.csv",
        [(f"{row['video_id']}.mp4", row["text"], row["start"], row["end"]) for row in rows],
        "video,caption,start,end",
    )
    options = {"id_column": None, "start_column": "start", "end_column": "end"}
    made = rows_of(build(tmp_path, tmp_path / "set", ["order"], **options), "order")
    same = [row for row in made if len({part["video_path"] for part in row["segments"] if part["video_path"]}) == 1]
    assert len(same) > len(made) / 2
    for row in same:
        parts = [part for part in row["segments"] if part["video_path"]]
        real = parts[0]["start"] < parts[1]["start"]
        assert real == row["id"].endswith("/0")
    again = build(tmp_path, tmp_path / "again", ["order"], num_proc=2, **options)
    assert contents(again) == contents(tmp_path / "set")


def test_reasons_agree_with_their_number() -> None:
    of_clips = [reason for reason, words in LEFT_OUT.items() if words.startswith("clips ")]
    assert {"too_short", "looks_the_same_backwards", "no_direction_verb"} < set(of_clips)
    for reason in of_clips:
        one, two = counts_in_words({reason: 1}), counts_in_words({reason: 2})
        assert re.match(r"1 clip (?:is|has|lacks|looks|stands|cannot)\b", one), one
        assert re.match(r"2 clips (?:are|have|lack|look|stand|cannot)\b", two), two
    for reason in REASONS:
        one = counts_in_words({"captions_tried": {reason: 1}})
        assert re.match(r"of \d captions? tried 1 (?:has|holds|is|names|says|was|gave|got)\b", one), one


@pytest.mark.parametrize("when", ["at the start", "at the very start", "soon", "behind a woman"])
def test_words_of_order_are_known(when: str) -> None:
    assert WHEN.search(f"a man enters the room {when}")
