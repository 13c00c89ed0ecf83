"""The page of a review in a browser: keys, mending and writing, the saved table, and the build that takes it."""

from pathlib import Path
from typing import Any

import video_contrast
from video_contrast.builders.assembly.review import PAGE, TICKS, read_ticks
from video_contrast.storage import open_set

CAPTIONS = {
    "dance": "a young man is dancing in a kitchen",
    "cake": "a woman is baking a chocolate cake",
    "yoga": "two women are running on the beach",
    "cat": "a dog chases a cat through the garden",
    "rain": "two men walk in the rain",
}


def test_a_whole_review_by_keys(browser: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    table, out = tmp_path / "captions.csv", tmp_path / "set"
    lines = [f"{name}.mp4,{text}" for name, text in CAPTIONS.items()]
    table.write_text("\n".join(["video,caption", *lines]) + "\n", encoding="utf-8")
    video_contrast.build("captions", ["verb_mc"], output=out, captions=str(table), review=True)
    page = browser.new_page(accept_downloads=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((out / PAGE).as_uri())
    page.keyboard.press("1")  # ticks, and takes it back, and ticks again
    page.keyboard.press("1")
    page.keyboard.press("1")
    first = page.locator("#candidates button[aria-pressed=true]").inner_text()
    page.keyboard.press("Enter")
    page.keyboard.press("w")
    page.keyboard.type("a woman is <i>throwing</i> a chocolate cake")
    page.keyboard.press("Enter")
    assert "<i>" in page.locator("#candidates button[aria-pressed=true]").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # nothing ticked: no contrast
    page.keyboard.press("ArrowLeft")
    assert page.locator("#place").inner_text() == "3 of 5, reviewed"
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(out / TICKS)
    assert page.locator("#table").input_value() == (out / TICKS).read_text(encoding="utf-8")  # to copy by hand
    ticks = read_ticks(out / TICKS, ["verb_mc"])
    assert [tick.contrast for tick in ticks if tick.vote == "yes"] == [
        first,
        "a woman is <i>throwing</i> a chocolate cake",
    ]
    assert {tick.clip for tick in ticks} <= {"dance", "cake", "yoga"}
    again = browser.new_context().new_page()  # another browser goes on with the saved file
    again.goto((out / PAGE).as_uri())
    again.set_input_files("#load", out / TICKS)
    expect(again.locator("#table")).to_have_value((out / TICKS).read_text(encoding="utf-8"))
    video_contrast.build("captions", ["verb_mc"], output=out, captions=str(table))
    built = {row["video_id"]: row["candidates"] for row in open_set(out).choice_rows("verb_mc", "test")}
    assert first in built["dance"] and built.keys() == {"dance", "cake"}
    assert errors == []
