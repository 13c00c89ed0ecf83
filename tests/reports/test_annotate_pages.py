"""The two human pages: what is shown, the folder of a Space, a whole session in a browser."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import os
from pathlib import Path
from typing import Any

import fabricate
import pytest
from annotations import made  # noqa: F401  fixtures

from video_contrast.cli import main
from video_contrast.reports.annotate import Desk, Votes, judged
from video_contrast.reports.annotate.results import export_set
from video_contrast.reports.annotate.tasks import UNCLEAR
from video_contrast.storage import open_set


def test_a_clip_is_shown_in_colours_that_browsers_know_and_cut_to_its_span(tmp_path: Path, monkeypatch: Any) -> None:
    import av
    import numpy as np

    from video_contrast.reports.annotate.pages import shown_clip
    from video_contrast.video import read_video, write_video

    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    frames = fabricate.clip(3, size=51)
    write_video(tmp_path / "exact.mp4", frames, 8, quality="lossless")  # RGB inside: browsers show it in false colours
    row: Any = {"video_id": "exact", "video_path": "exact.mp4", "start": 0.25, "end": 0.75}
    shown = shown_clip(tmp_path, row)
    with av.open(str(shown)) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
    found = read_video(shown).frames
    times = found.shape[1] // 50
    assert found.shape[0] == 4 and found.shape[1] >= 240
    assert np.abs(found[:, times // 2 :: times, times // 2 :: times].astype(int) - frames[2:6, :50, :68]).mean() < 4
    assert shown_clip(tmp_path, row) == shown
    write_video(tmp_path / "plain.mp4", np.repeat(np.repeat(frames[:, :50, :50], 6, 1), 6, 2), 8)
    plain: Any = {"video_id": "plain", "video_path": "plain.mp4", "start": None, "end": None}
    assert shown_clip(tmp_path, plain) == tmp_path / "plain.mp4"


@pytest.mark.parametrize("task", ["judge", "write"])
def test_a_space_folder_is_an_app_of_its_own(made: Path, tmp_path: Path, monkeypatch: Any, task: str) -> None:
    import importlib.util

    import yaml

    gradio = pytest.importorskip("gradio", reason="Gradio is not installed")
    out = tmp_path / "space"
    given = ["annotate", "space", str(made), "--output", str(out), "--task", task, "--config", "random_mc"]
    assert main([*given, "--people", "2"]) == 0
    head = yaml.safe_load((out / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert (head["sdk"], head["app_file"], head["sdk_version"]) == ("gradio", "app.py", gradio.__version__)
    assert (out / "requirements.txt").read_text().startswith("video-contrast[annotate]==")
    moved = out.rename(tmp_path / "elsewhere")  # nothing in it may point back
    assert str(made) not in "".join(p.read_text(encoding="utf-8") for p in moved.glob("*.*"))
    monkeypatch.setenv("VOTES_DIR", str(tmp_path))
    spec = importlib.util.spec_from_file_location("space_app", moved / "app.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.demo, gradio.Blocks)
    task_shown = module.desk.next("ann")
    assert (moved / "set" / task_shown.row["video_path"]).is_file()
    assert module.desk.progress("ann") == (0, 0, 8)
    assert main(["annotate", "space", str(made), "--output", str(moved), "--config", "random_mc"]) == 2


def test_a_space_without_its_clips_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = fabricate.make_set(tmp_path / "set", 12, videos=5)
    assert main(["annotate", "space", str(root), "--output", str(tmp_path / "s"), "--config", "random_mc"]) == 1
    assert "2 of 7 clips are not in" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_page_serves_its_clips_and_not_the_tables_that_hold_the_truth(made: Path, tmp_path: Path) -> None:
    import httpx

    pytest.importorskip("gradio", reason="Gradio is not installed")
    from video_contrast.reports.annotate.pages import app, launch_options

    desk = Desk(
        open_set(made).choice_rows("random_mc", "test"), Votes(tmp_path / "new" / "v.jsonl", "judge"), per_item=1
    )
    page = app(desk, made, reviewer=None)
    assert "Review" not in [part["props"].get("label") for part in page.get_config_file()["components"]]
    _, address, _ = page.launch(quiet=True, prevent_thread_lock=True, **launch_options(desk, made))
    try:
        clip = made / next(iter(desk.rows.values()))["video_path"]
        table = next((made / "random_mc").glob("*.parquet"))
        secret = made.parent / "passwd"
        secret.write_text("x")
        asked = [clip, table, made / "set.json", secret, f"{clip.parent}/../random_mc/{table.name}"]
        codes = [httpx.get(f"{address}gradio_api/file={path}").status_code for path in asked]
    finally:
        page.close()
    assert codes[0] == 200 and set(codes[1:]) <= {403, 404}


@pytest.mark.browser
@pytest.mark.parametrize("task", ["judge", "write"])
def test_a_whole_session_in_a_browser(browser: Any, made: Path, tmp_path: Path, task: Any) -> None:
    pytest.importorskip("gradio", reason="Gradio is not installed")
    from playwright.sync_api import expect

    from video_contrast.reports.annotate.pages import app, launch_options

    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    rows = open_set(made).choice_rows("random_mc", "test")
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", task), per_item=1)
    page = app(desk, made, reviewer="between us")
    _, address, _ = page.launch(quiet=True, prevent_thread_lock=True, **launch_options(desk, made))
    tab = browser.new_page(viewport={"width": 390, "height": 844})  # a phone
    tab.set_default_timeout(60_000)
    try:
        outside: list[str] = []
        tab.on("request", lambda r: None if r.url.startswith((address, "data:", "blob:")) else outside.append(r.url))
        tab.goto(address)
        tab.locator("#name input, #name textarea").fill("ann")
        tab.keyboard.press("Enter")
        expect(tab.locator("#name :focus")).to_have_count(0)  # the keys are for the options now
        for number in range(1, 5):
            status = tab.locator("#status")
            expect(status).to_contain_text(f"ann: {number - 1} by you · {number - 1} of 4 answers")
            expect(tab.locator("#name")).to_be_hidden()  # its place is for the options
            if task == "judge":
                expect(tab.locator("#choice input[type=radio]")).to_have_count(6)
                if number == 1:
                    tab.set_viewport_size({"width": 1280, "height": 900})
                    tab.wait_for_function("document.querySelector('#video video').readyState > 0")
                    # nobody has to scroll to send five candidates off, once fonts and video have found their place
                    tab.wait_for_function("document.querySelector('#submit').getBoundingClientRect().bottom <= 900")
                    tab.set_viewport_size({"width": 390, "height": 844})
                tab.keyboard.press("0" if number == 1 else "2")
                expect(tab.locator("#choice input:checked")).to_have_count(1)
                tab.keyboard.press("Enter")
            else:
                if number == 1:
                    tab.get_by_text("What to do").click()  # it closed at the start, and opens again
                    for words in ("Change nothing else", "✓ a girl sits down", "(means the same)"):
                        expect(tab.get_by_text(words).first).to_be_visible()
                sentence, hint = tab.locator("#sentence").inner_text().strip().split("\n")
                marked = tab.locator("#sentence mark").inner_text()
                assert hint == f"verb to change: “{marked}”"
                if number == 1:  # unchanged text is refused first
                    tab.locator("#submit").click()
                    expect(tab.locator("#message")).to_contain_text("unchanged")
                tab.locator("#text textarea").fill(sentence.replace(marked, "paints", 1))
                tab.locator("#submit").click()
        expect(tab.locator("#status")).to_contain_text("Nothing left")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if task == "judge":  # a reviewer sends one back, and its author is shown it again with the note
            item = rows[0]["id"]
            tab.get_by_role("tab", name="Review").click()
            shown = tab.locator("#review th").filter(has_text="status").first.bounding_box()
            assert shown["height"] < 60, "a heading of the answers is broken into letters on a phone"
            for field, text in (("item", item), ("by", "ann"), ("note", "watch to the end")):
                tab.locator(f"#back-{field} input, #back-{field} textarea").fill(text)
            tab.locator("#back").click()
            expect(tab.locator("#back-said")).to_contain_text("not the reviewer's password")
            tab.locator("#back-password input").fill("between us")
            tab.locator("#back").click()
            expect(tab.locator("#back-said")).to_contain_text("Sent back to ann")
            tab.get_by_role("tab", name="Judge").click()
            tab.locator("#start").click()
            expect(tab.get_by_text("Sent back: watch to the end")).to_be_visible(timeout=20_000)
            expect(tab.locator("#choice input[type=radio]")).to_have_count(6)
            tab.keyboard.press("0")
            tab.locator("#submit").click()
            expect(tab.locator("#status")).to_contain_text("Nothing left")
        assert not [url for url in outside if "127.0.0.1" not in url and "localhost" not in url]
    finally:
        tab.close()
        page.close()
    votes = Votes(tmp_path / "v.jsonl", task)
    assert len(votes.latest()) == 4
    out = export_set(made, votes.path, tmp_path / "out", config="random_mc", task="write") if task == "write" else None
    if out is not None:
        assert len(open_set(out).choice_rows("verb_human_mc", "test")) == 4
    else:
        assert votes.of("ann")[rows[0]["id"]].answer == UNCLEAR
        assert judged(rows, votes.standing())["n_items"] == 4
