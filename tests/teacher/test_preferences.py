"""Contrast sets as preference pairs and checkable questions, in TRL's formats, asked as the runner asks."""

from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import runner_set

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import multiple_choice_row
from video_contrast.runner.kinds import prompts
from video_contrast.storage import SetDraft
from video_contrast.teacher.preferences import PreferenceOptions, answer_reward, export_preferences
from video_contrast.video import write_video

ITEMS = 6


def item(n: int, **more: Any) -> dict[str, Any]:
    columns = {
        "id": f"i{n}", "video_id": f"v{n}", "video_path": f"{n}.mp4", "label": 0,
        "candidates": [f"dog {n} sits", f"dog {n} runs", f"cats {n}"], "kinds": ["true", "antonym", "random"],
    }  # fmt: skip
    return multiple_choice_row(**{**columns, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("contrasts")
    rows = [item(n) for n in range(ITEMS)]
    odd = [
        item(0),
        item(1, candidates=["A dog sits.", "a dog  sits", "a cat"]),
        item(2, kinds=["true", "random", "random"]),
        item(3, video_path="absent.mp4"),
    ]
    asked = [
        item(0, question="What does it do?", meta={"prompt": "{question} {options}", "option": "({letter}) {text}"})
    ]
    draft = SetDraft(root, "captions")
    draft.add("verb_mc", {"train": rows, "test": rows[:2]}, {})
    draft.add("odd_mc", {"validation": odd}, {})
    draft.add("qa", {"val": asked}, {})
    draft.save()
    for n in range(ITEMS):
        write_video(root / f"{n}.mp4", runner_set.clip(n, 6, 32), 8)
    return root


def export(folder: Path, output: Path, format_: str = "dpo", **more: Any) -> tuple[dict[str, int], datasets.Dataset]:
    given = {"config": ["verb_mc"], "frames": 2} | more
    counts = export_preferences(folder, output=output, format_=format_, **given)
    return counts, datasets.load_dataset(str(output), split=given.get("split", "train"))


def test_pairs_are_the_caption_and_its_contrasts_under_the_prompt_that_is_scored(folder: Path, tmp_path: Path) -> None:
    counts, rows = export(folder, tmp_path / "dpo")
    assert counts == {"items": ITEMS, "rows": ITEMS}  # no random captions
    row = rows[0]
    assert row["prompt"] == [{"role": "user", "content": prompts.DESCRIBE}]
    assert row["chosen"] == [{"role": "assistant", "content": "dog 0 sits"}]
    assert row["rejected"] == [{"role": "assistant", "content": "dog 0 runs"}] and row["kind"] == "antonym"
    assert row["videos"] == [str(folder / "0.mp4")]
    shown = [np.asarray(image) for image in row["images"]]
    assert len(shown) == 2 and shown[0].shape == (32, 32, 3) and not np.array_equal(*shown)


def test_frames_are_those_that_the_runner_samples(folder: Path, tmp_path: Path) -> None:
    from video_contrast.video import frame_indices, read_video

    _, rows = export(folder, tmp_path / "dpo", frames=3, limit=1)
    whole = read_video(folder / "0.mp4").frames
    assert all(
        np.array_equal(np.asarray(image), whole[n])
        for image, n in zip(rows[0]["images"], frame_indices(6, 3), strict=True)
    )


def test_yes_and_no_are_equally_often_right(folder: Path, tmp_path: Path) -> None:
    _, rows = export(folder, tmp_path / "yesno", scoring="yesno")
    assert Counter(row["chosen"][0]["content"] for row in rows) == {"Yes": ITEMS, "No": ITEMS}
    asked = {row["prompt"][0]["content"]: row["chosen"][0]["content"] for row in rows}
    assert asked[prompts.YESNO.format(caption="dog 0 sits")] == "Yes"
    assert asked[prompts.YESNO.format(caption="dog 0 runs")] == "No"


def test_right_letters_are_balanced_and_can_be_checked(folder: Path, tmp_path: Path) -> None:
    _, rows = export(folder, tmp_path / "grpo", format_="grpo")
    assert "chosen" not in rows.column_names
    assert Counter(rows["solution"]) == {"A": 2, "B": 2, "C": 2}
    for row in rows:
        lines = dict(line.split(". ", 1) for line in row["prompt"][0]["content"].splitlines() if line[1:3] == ". ")
        assert lines[row["solution"]].endswith("sits")
    said = [[{"role": "assistant", "content": f" {answer}."}] for answer in rows["solution"]]
    assert answer_reward(said, rows["solution"]) == [1.0] * ITEMS
    assert answer_reward(["Z", "", "a dog", "The answer is A"], ["A"] * 4) == [0.0, 0.0, 0.0, 1.0]


def test_right_letters_are_balanced_among_items_of_as_many_candidates(tmp_path: Path) -> None:
    rows = []
    for n in range(24):  # every third item has four candidates, and one of three cannot be read
        texts = ["dog sits", "dog runs", "dog eats", "dog barks"][: 2 + 2 * (n % 3 == 0)]
        kinds = ["true", *["verb"] * (len(texts) - 1)]
        path = "gone.mp4" if n % 3 == 1 else "0.mp4"
        rows.append(item(n, candidates=texts, kinds=kinds, video_path=path))
    draft = SetDraft(tmp_path / "set", "captions")
    draft.add("verb_mc", {"train": rows}, {})
    draft.save()
    write_video(tmp_path / "set" / "0.mp4", runner_set.clip(0, 6, 32), 8)
    _, exported = export(tmp_path / "set", tmp_path / "grpo", format_="grpo")
    letters = [(len(row["prompt"][0]["content"].splitlines()) - 2, row["solution"]) for row in exported]
    assert Counter(letters) == {(2, "A"): 4, (2, "B"): 4, **{(4, letter): 2 for letter in "ABCD"}}


def test_what_makes_no_pair_is_counted(folder: Path, tmp_path: Path) -> None:
    counts, rows = export(folder, tmp_path / "odd", config=["odd_mc"], split="validation")
    assert counts == {"items": 4, "rows": 1, "equal": 1, "no contrast": 2, "unreadable": 1} and len(rows) == 1


def test_questions_keep_the_prompt_of_their_set(folder: Path, tmp_path: Path) -> None:
    _, rows = export(folder, tmp_path / "qa", "grpo", config=["qa"], split="val", kinds="antonym,random")
    assert rows[0]["prompt"][0]["content"].startswith("What does it do? (A)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "--allow-test"),
        ({"split": "val"}, "has train, test|has test, train"),
        ({"format_": "grpo", "scoring": "loglik"}, "can be checked"),
        ({"frames": 0}, "--frames must be at least 1"),
        ({"limit": -2}, "--limit must be at least 1"),
        ({"kinds": "gender"}, "no row could be made"),
    ],
)
def test_bad_calls_are_one_sentence_and_leave_nothing(folder: Path, tmp_path: Path, options: Any, message: str) -> None:
    given = {"format_": "dpo", "config": ["verb_mc"], "frames": 2} | options
    with pytest.raises((UsageError, VideoContrastError), match=message) as error:
        export_preferences(folder, output=tmp_path / "out", **given)
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


def test_a_test_split_is_exported_with_consent(folder: Path, tmp_path: Path) -> None:
    assert PreferenceOptions(output=tmp_path, format_="dpo").split == "train"
    counts, _ = export(folder, tmp_path / "out", split="test", allow_test=True)
    assert counts["rows"] == 2


def test_a_table_and_videos_elsewhere_are_named_as_what_they_are(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("candidates,label\n")
    with pytest.raises(
        UsageError, match=r"mine\.csv is a file, and the folder of a set is needed: .*build captions.*build pairs"
    ):
        export_preferences(tmp_path / "mine.csv", output=tmp_path / "out", format_="dpo")
    with pytest.raises(VideoContrastError, match=r"no such file \(--video-root\)"):
        export_preferences(folder, output=tmp_path / "out", format_="dpo", split="train", video_root=tmp_path)
