"""The shapes world: clips show what their captions say, and every contrast is false of its clip."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import datasets
import drawn_once
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import video_contrast
from video_contrast.audit.blind_audit import audited_items, blind_results
from video_contrast.audit.blind_models import wins
from video_contrast.builders.shapes.captions import Claim, claim, read, verdict, write
from video_contrast.builders.shapes.contrasts import negatives
from video_contrast.builders.shapes.render import COLOURS, render
from video_contrast.builders.shapes.shapes import CONFIGS, SceneClip
from video_contrast.builders.shapes.shapes import scene_of as scene_of_id
from video_contrast.builders.shapes.world import ACTIONS, REVERSE, TRANSITIVE, Figure, Scene, held_out, scenes
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.seeds import stream
from video_contrast.video import read_video

some_scene = st.builds(lambda n: next(scenes(3, "test", 1, first=n)), st.integers(0, 5000))


@pytest.fixture(scope="module", autouse=True)
def _drawn_anew() -> Iterator[None]:
    """Other tests take clips that were drawn before; here all are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SceneClip, "write", drawn_once.draw)
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return video_contrast.build("shapes", output=tmp_path_factory.mktemp("shapes"), items=40, gallery=20)


def rows(built: Path, config: str) -> list[dict]:
    return datasets.load_dataset(str(built), config, split="test").to_list()


def scene_of(row: dict) -> Scene:
    """The scene behind a row: of its number, played backwards ("r"), or with who does what as its caption says."""
    _, _, number, *variant = row["video_id"].split("-")
    scene = next(scenes(0, "test", 1, first=int(number.rstrip("r"))))
    if variant:
        return SceneClip(scene, 0, "test", int(number)).showing(read(row["candidates"][row["label"]]), "").scene
    return scene.reversed() if number.endswith("r") else scene


# What a scene shows


@given(some_scene)
@settings(max_examples=25, deadline=None)
def test_an_antonym_is_the_same_clip_played_backwards(scene: Scene) -> None:
    if scene.action in REVERSE:
        assert np.array_equal(render(scene.reversed()), render(scene)[::-1])
        assert scene.reversed().reversed() == scene


def centre(frame: np.ndarray, colour: str) -> tuple[float, float, int]:
    """Where the pixels of a figure's colour lie (x, y), and how many there are; found without the drawing code."""
    hit = (np.abs(frame.astype(int) - COLOURS[colour]).sum(2)) < 30
    y, x = np.nonzero(hit)
    return float(x.mean()), float(y.mean()), int(hit.sum())


@pytest.mark.parametrize("jitter", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("side", [None, "left", "right", "above", "below"])
def test_the_pixels_move_as_the_caption_says(jitter: float, side: str | None) -> None:
    def path(action: str) -> tuple[float, float, float]:
        other = Figure("tree") if side else None
        clip = render(Scene(Figure("square", "red"), action, "snow", other, side, (jitter,) * 6))
        (x0, y0, n0), (x1, y1, n1) = centre(clip[0], "red"), centre(clip[-1], "red")
        return x1 - x0, y1 - y0, n1 / n0

    dx, dy, _ = path("slides_right")
    assert dx > 10 and abs(dy) < 1
    assert path("slides_left")[0] < -10
    dx, dy, _ = path("rises")
    assert dy < -10 and abs(dx) < 1
    assert path("falls")[1] > 10
    assert path("grows")[2] > 2 and path("shrinks")[2] < 0.5
    assert path("stays_still") == (0, 0, 1)


@pytest.mark.parametrize("side", ["left", "right"])
def test_objects_move_as_the_caption_says(side: str) -> None:
    way = 1 if side == "right" else -1

    def both(action: str, side: str = side) -> tuple[tuple[float, float], tuple[float, float]]:
        clip = render(Scene(Figure("square", "red"), action, "snow", Figure("circle", "blue"), side))
        subject, other = ([centre(frame, c) for frame in (clip[0], clip[-1])] for c in ("red", "blue"))
        return tuple((b[0] - a[0], b[1] - a[1]) for a, b in (subject, other))

    (subject, _), (other, _) = both("pushes")
    assert subject * way > 10 and other * way > 10
    (subject, _), (other, _) = both("pulls")
    assert subject * way < -10 and other * way < -10
    (subject, _), (other, _) = both("approaches")
    assert subject * way > 8 and other == 0
    (_, subject), (_, other) = both("lifts", "above")
    assert subject == 0 and other < -10


def test_turning_clockwise_moves_the_top_to_the_right() -> None:
    clip = render(Scene(Figure("circle", "red"), "turns_clockwise", "snow"))
    middle, _, _ = centre(clip[6], "red")

    def mark(frame: np.ndarray) -> float:
        return float(np.nonzero(frame.sum(2) < 150)[1].mean())

    assert mark(clip[0]) < middle - 2 and mark(clip[-1]) > middle + 2


# What captions say


@given(some_scene, st.booleans(), st.integers(0, 1), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_caption_says_what_it_was_made_from(scene: Scene, names: bool, phrase: int, place: bool, where: bool) -> None:
    said = claim(scene, place=place, setting=where)
    caption = write(said, names=names, phrase=phrase)
    assert read(caption) == said
    assert verdict(scene, caption) == "true"


@given(some_scene, st.integers(0, 1), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_negative_is_false_and_one_edit_away(scene: Scene, phrase: int, names: bool) -> None:
    said = claim(scene)
    true = write(said, names=names, phrase=phrase)
    for kind, texts in negatives(scene, said, stream("test"), phrase, names).items():
        for text in texts:
            assert text != true and verdict(scene, text) == "false"
            changed = [field for field in Claim.__slots__ if getattr(read(text), field) != getattr(said, field)]
            assert changed == (["subject", "other"] if kind == "role" else changed[:1])


@given(some_scene, some_scene)
@settings(max_examples=60, deadline=None)
def test_truth_and_its_mirror_image_agree(scene: Scene, other: Scene) -> None:
    caption, mirrored = write(claim(other)), write(claim(other.mirrored()))
    assert verdict(scene, caption) == verdict(scene.mirrored(), mirrored)


@pytest.mark.parametrize(
    ("action", "said", "expected"),
    [
        ("pushes", "a man in red moves towards a blue circle", "unclear"),
        ("pushes", "a man in red slides to the right", "unclear"),
        ("pushes", "a man in red slides to the left", "false"),
        ("pushes", "a blue circle pulls a man in red", "unclear"),
        ("pushes", "a blue circle pushes a man in red", "false"),
        ("pushes", "Adam shoves a blue circle in the snow", "true"),
        ("pushes", "a guy in red pushes a blue circle", "true"),
        ("pushes", "a boy in red pushes a blue circle", "false"),
        ("lifts", "a blue circle rises", "unclear"),
        ("lifts", "a man in red stays still", "unclear"),
        ("lifts", "a man in red lowers a blue circle", "false"),
    ],
)
def test_captions_in_dispute_are_neither_true_nor_false(action: str, said: str, expected: str) -> None:
    side = "above" if action == "lifts" else "right"
    assert verdict(Scene(Figure("man", "red"), action, "snow", Figure("circle", "blue"), side), said) == expected


@pytest.mark.parametrize("text", ["", "a man", "a man in red pushes", "a red circle rises a box", "a dog runs"])
def test_what_is_no_caption_of_this_world_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a caption of the shapes world"):
        verdict(Scene(Figure("man", "red"), "rises", "snow"), text)


# The sets


@pytest.mark.parametrize("config", [name for name in CONFIGS if name != "retrieval"])
def test_every_option_of_every_set_is_checked(built: Path, config: str) -> None:
    found = rows(built, config)
    assert len(found) >= 20
    for row in found:
        scene = scene_of(row)
        for position, (text, kind) in enumerate(zip(row["candidates"], row["kinds"], strict=True)):
            assert verdict(scene, text) == ("true" if position == row["label"] else "false")
            edit = row["edits"][position]
            assert (edit is None) == (kind in ("true", "random"))
            if edit:
                true = row["candidates"][row["label"]]
                assert text[edit["start"] : edit["end"]] == edit["new"]
                assert true[edit["start"] : edit["start"] + len(edit["old"])] == edit["old"]
        if config not in ("random_mc", "antonym_mc", "reversal_pairs", "counterfactual_mc"):
            assert verdict(scene, row["replaced"]) == "false"
            assert Counter(row["kinds"])["random"] == 4


@pytest.mark.parametrize("config", [name for name in CONFIGS if name != "retrieval"])
def test_what_reads_captions_alone_is_right_for_one_clip_of_each_group(built: Path, config: str) -> None:
    """Whichever candidate (of counterfactuals: action) or place it prefers, that is true of one clip of the group."""
    groups: dict[str, list[dict]] = {}
    for row in rows(built, config):
        groups.setdefault(row["cluster"], []).append(row)
    complete = [group for group in groups.values() if len(group) == len(group[0]["candidates"])]
    assert len(complete) >= len(groups) - 1 >= 5  # the last one may be cut off by --items
    for group in complete:
        assert sorted(row["label"] for row in group) == list(range(len(group)))
        if config == "counterfactual_mc":
            assert len({tuple(read(text).action for text in row["candidates"]) for row in group}) == 1
            continue
        assert len({tuple(row["candidates"]) for row in group}) == 1
        by_label = {row["label"]: row for row in group}
        for row in group:
            contrasts = [place for place, kind in enumerate(row["kinds"]) if kind not in ("true", "random")]
            assert len(contrasts) == (0 if config == "random_mc" else 1)
            assert all(by_label[place]["kinds"][row["label"]] == row["kinds"][place] for place in contrasts)


def test_blind_models_are_at_chance_on_every_config(built: Path) -> None:
    for config in CONFIGS[1:]:
        found = rows(built, config)
        size = len(found[0]["candidates"])
        whole = found[: len(found) // size * size]  # groups
        for result in blind_results(audited_items(whole)):
            chance = 1 / len(audited_items(whole)[0].texts)
            assert wins(result.scores).mean() == pytest.approx(chance, abs=0.1 * (config == "counterfactual_mc")), (
                config,
                result.key,
            )


@pytest.mark.parametrize("config", ["verb_mc", "gender_mc", "role_mc"])
def test_clips_that_show_contrasts_are_drawn_and_held_out_of_training(built: Path, config: str) -> None:
    variants = [row for row in rows(built, config) if "-" in row["video_id"].removeprefix("test-0-")]
    assert len(variants) >= 19
    assert all(held_out(scene_of(row)) for row in variants)
    assert np.array_equal(read_video(built / variants[0]["video_path"]).frames, render(scene_of(variants[0])))


def test_the_id_of_a_clip_that_shows_a_contrast_names_no_scene() -> None:
    with pytest.raises(VideoContrastError, match="not the id of a clip of the shapes world"):
        scene_of_id("test-0-0042-gender-1")


def test_gallery_captions_are_true_of_one_clip_only(built: Path) -> None:
    found = rows(built, "retrieval")
    assert len(found) == 20
    for row in found:
        fits = [other["id"] for other in found if verdict(scene_of(other), row["captions"][0]) != "false"]
        assert fits == [row["id"]]


def test_antonym_items_come_as_a_clip_and_its_reversal(built: Path) -> None:
    found = rows(built, "antonym_mc")
    for clip, back in zip(found[::2], found[1::2], strict=True):
        assert clip["candidates"] == back["candidates"] and clip["label"] != back["label"]
        assert clip["cluster"] == back["cluster"]
        frames, reverse = (read_video(built / row["video_path"]).frames for row in (clip, back))
        assert len(frames) == 12 and np.array_equal(frames, reverse[::-1])


@pytest.mark.parametrize("config", ["antonym_mc", "counterfactual_mc"])
def test_options_come_in_pairs_so_that_text_alone_tells_nothing(built: Path, config: str) -> None:
    for row in rows(built, config):
        actions = {read(text).action for text in row["candidates"]}
        assert {REVERSE[action] for action in actions} == actions


def test_contrasts_of_who_come_from_the_products_own_perturbations(built: Path) -> None:
    for config, kind, generator in (("gender_mc", "gender", "table6"), ("person_id_mc", "person_id", "cast")):
        for row in rows(built, config):
            assert row["edits"][row["kinds"].index(kind)]["generator"] == generator


def test_clips_are_real_videos_of_what_was_drawn(built: Path) -> None:
    row = rows(built, "random_mc")[0]
    clip = read_video(built / row["video_path"])
    assert clip.fps == 8 and np.array_equal(clip.frames, render(scene_of(row)))


def test_building_again_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    def digests(root: Path) -> dict[str, str]:
        found = {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        return {str(name): hashlib.sha256(data).hexdigest() for name, data in found.items()}

    video_contrast.build("shapes", "verb_mc", output=tmp_path, items=40, gallery=20)  # one name is no list of letters
    again = video_contrast.build("shapes", "antonym_mc", output=tmp_path, items=40, gallery=20)
    first = digests(built)
    for name, digest in digests(again).items():
        if name not in ("README.md", "set.json", "croissant.json", "eval.yaml"):  # they list the configs built
            assert first[name] == digest, name


def test_training_never_shows_a_held_out_scene() -> None:
    test = {member.key() for scene in scenes(0, "test", 400) for member in (scene, scene.mirrored())}
    train = list(scenes(1, "train", 400))
    assert not test & {scene.key() for scene in train}
    assert all(held_out(scene) for scene in scenes(5, "validation", 50)) and not any(map(held_out, train))
    reversible = [scene for scene in train if scene.action in REVERSE]
    assert not any(held_out(scene.reversed()) or held_out(scene.mirrored()) for scene in reversible)


def test_every_action_and_both_kinds_of_verbs_occur() -> None:
    seen = Counter(scene.action for scene in scenes(0, "test", 400))
    assert set(seen) == set(ACTIONS)
    assert 0.4 < sum(seen[action] for action in TRANSITIVE) / 400 < 0.6


def test_training_and_validation_splits_on_request(tmp_path: Path) -> None:
    root = video_contrast.build("shapes", ["retrieval"], output=tmp_path, items=20, gallery=4, train=6, validation=3)
    sizes = {split: len(part) for split, part in datasets.load_dataset(str(root), "retrieval").items()}
    assert sizes == {"train": 6, "validation": 3, "test": 4}
    assert json.loads((root / "set.json").read_text())["facts"]["seed"] == 0


@pytest.mark.parametrize("option", ["items", "train", "validation"])
def test_a_number_out_of_range_is_a_usage_error(option: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--{option} must be at least"):
        video_contrast.build("shapes", output=tmp_path / "x", **{option: -1})
    assert not (tmp_path / "x").exists()
