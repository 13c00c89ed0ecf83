"""Configs of the kinds that rules make, and `contrast_mc`, which mixes all kinds."""

from collections import Counter
from pathlib import Path

import datasets
import pytest

from video_contrast.builders import build
from video_contrast.builders.assembly.captioned_clip import Attempt, CaptionedClip, ContrastSetOptions
from video_contrast.builders.assembly.word_contrasts import KindContrasts
from video_contrast.rows import KINDS, validate_rows

COLOURS = ("red", "blue", "green", "white", "black")
PLACES = ("kitchen", "classroom", "garage", "forest", "park")
CONFIGS = ["attribute_mc", "place_mc", "count_mc", "contrast_mc"]


def write_table(path: Path, n: int = 60) -> Path:
    lines = ["file,caption"]
    for k in range(n):
        who = ("a man", "two men", "three women", "a woman")[k % 4]
        form = "is" if who.startswith("a ") else "are"
        lines.append(f"v{k}.mp4,{who} {form} singing in a {PLACES[k % 5]}")
        lines.append(f"v{k}.mp4,someone with a {COLOURS[k * 7 % 5]} hat sings song number {k}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    given = {"captions": str(write_table(folder / "c.csv")), "video_column": "file", "caption_column": "caption"}
    for name, processes in (("set", 1), ("again", 2)):
        build("captions", CONFIGS, output=folder / name, num_proc=processes, **given)
    return folder


def rows(root: Path, config: str) -> list[dict]:
    return list(datasets.load_dataset(str(root / "set"), config, split="test", cache_dir=str(root / "hf")))


@pytest.mark.parametrize("kind", ["attribute", "place", "count"])
def test_a_kind_has_a_config_of_its_own(root: Path, kind: str) -> None:
    items = rows(root, f"{kind}_mc")
    assert len(items) >= 10
    for item in items:
        assert sorted(item["kinds"]) == sorted([kind, "random", "random", "random", "true"])
        at = item["kinds"].index(kind)
        edit, true = item["edits"][at], item["candidates"][item["label"]]
        assert item["candidates"][at][edit["start"] :].startswith(edit["new"])
        assert true[edit["start"] :].startswith(edit["old"])


def test_every_colour_is_put_in_about_as_often_as_it_is_taken_out(root: Path) -> None:
    net: Counter[str] = Counter()
    edits = [edit for item in rows(root, "attribute_mc") for edit in item["edits"] if edit]
    for edit in edits:
        net.update({edit["new"].split()[-1]: 1})
        net.subtract({edit["old"].split()[-1]: 1})
    assert max(map(abs, net.values())) <= len(edits) / 4


def test_the_mixed_config_has_an_item_for_each_kind_that_a_clip_allows(root: Path) -> None:
    items = rows(root, "contrast_mc")
    validate_rows(items, "multiple_choice")
    assert len({item["id"] for item in items}) == len(items)
    for item in items:
        kind = next(kind for kind in item["kinds"] if kind != "true")
        assert item["id"] == f"{item['video_id']}#{kind}"
        assert len(item["candidates"]) == 2 and kind in KINDS
    kinds_of = Counter(item["video_id"] for item in items)
    assert max(kinds_of.values()) >= 2
    of_config = {row["id"] for row in rows(root, "place_mc")}
    assert of_config == {item["video_id"] for item in items if "place" in item["kinds"]}


def test_the_number_of_processes_does_not_matter(root: Path) -> None:
    for config in CONFIGS:
        first, again = (next((root / name / config).glob("*.parquet")) for name in ("set", "again"))
        assert first.read_bytes() == again.read_bytes()


def test_for_training_a_caption_gives_a_contrast_of_each_thing_that_it_says() -> None:
    caption = "a man in a red shirt washes a blue car"
    clip = CaptionedClip("c", "c", "c.mp4", captions=(caption, "a nice day"), cluster="c")
    edits, counts = KindContrasts("attribute", ContrastSetOptions())([Attempt(clip, 0), Attempt(clip, 1)])
    assert sorted(edit.old.split()[-1] for edit in edits[0]) == ["blue", "red"]
    assert edits[1] == []
    assert counts == {"edited": 1, "no_contrast_of_the_kind": 1}
