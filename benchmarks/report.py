"""How large a report of 10,000 items is, how long it takes to write, and how fast a browser opens it from disk.

    python benchmarks/report.py [--items 10000] [--clips 300] [--times 5]

The set is made on the spot: five captions of about ten words an item, clips with enough texture that their frames
are as heavy as those of real videos. The page opens in headless Chromium; each opening is a new browser context.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import fabricate
from parts.command_line import parser_of

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.reports import write_report
from video_contrast.rows import EditRecord, Row, edit_record, multiple_choice_row
from video_contrast.seeds import stream
from video_contrast.video import write_video

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(path).exists()), None)
WORDS = (
    "a", "man", "woman", "child", "two", "dogs", "in", "red", "is", "slowly", "talking", "pushing", "lifting", "large",
    "wooden", "table", "near", "window", "on", "stage", "while", "others", "watch", "from", "kitchen", "garden",
)  # fmt: skip
PAINTED = """() => {
  const timing = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return [timing.domContentLoadedEventEnd, timing.loadEventEnd, paint ? paint.startTime : NaN,
          document.querySelectorAll("#items .item").length];
}"""


def main() -> None:
    """Makes the set and a run, writes the report, opens it, prints the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("--items", type=int, default=10_000, help="of the set [default: 10000]")
    parser.add_argument("--clips", type=int, default=300, help="that they are of [default: 300]")
    parser.add_argument("--times", type=int, default=5, help="how often the page is opened [default: 5]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        make_set(root / "set", options.items, options.clips)
        fabricate.make_run(root / "run", root / "set", ["verb_mc"], model="model", skill=0.6)
        began = time.process_time()
        page = write_report([root / "run"], root / "report.html")
        print(
            f"{options.items} items: {page.stat().st_size / 1e6:.1f} MB, {time.process_time() - began:.1f} CPU-seconds"
        )
        if CHROMIUM is None:
            print("no Chromium in /usr/bin: not opened")
            return
        names = ("DOM ready", "loaded", "first paint")
        times = opened(page, options.times)
        for name, column in zip(names, zip(*times, strict=True), strict=True):
            print(
                f"{name}: {median(column):.0f} ms, the median of {len(column)} ({min(column):.0f} to {max(column):.0f})"
            )


def make_set(root: Path, items: int, clips: int) -> None:
    """A multiple-choice set with one verb contrast an item."""
    rows: list[Row] = []
    for number in range(items):
        rng = stream("benchmark", "report", number)
        candidates = [" ".join(rng.choice(WORDS, 10)) + f" {number} {k}" for k in range(5)]
        label, hard = (int(n) for n in rng.permutation(5)[:2])
        old = candidates[label].split(" ")[4]
        candidates[hard] = candidates[label].replace(old, "resting", 1)
        kinds: list[str] = ["random"] * 5
        edits: list[EditRecord | None] = [None] * 5
        kinds[label], kinds[hard] = "true", "verb_lm"
        edits[hard] = edit_record(old, "resting", candidates[hard].index("resting"), generator="benchmark")
        name = f"video{number % clips}"
        rows.append(
            multiple_choice_row(
                id=f"item{number}", video_id=name, video_path=f"clips/{name}.mp4", candidates=candidates, label=label,
                kinds=kinds, edits=edits, replaced=f"a replaced caption {number}",
            )
        )  # fmt: skip
    facts = {"seed": 0, "configs": {"verb_mc": {"audit": {}}}}

    def write_clip(number: int, path: Path) -> None:
        write_video(path, clip(number), 8)

    files: dict[str, Callable[[Path], None]] = {f"clips/video{n}.mp4": partial(write_clip, n) for n in range(clips)}
    write_set(BuiltSet("benchmark", {"verb_mc": {"test": rows}}, facts, files), root)


def clip(number: int) -> np.ndarray:
    """uint8[8, 240, 320, 3]: blocks and noise that move."""
    rng = stream("benchmark", "clip", number)
    ground = np.repeat(np.repeat(rng.integers(0, 256, (15, 24, 3)), 16, 0), 16, 1)
    ground = np.clip(ground + rng.normal(0, 12, ground.shape), 0, 255).astype(np.uint8)
    return np.stack([ground[:, 8 * t : 8 * t + 320] for t in range(8)])


def opened(page: Path, times: int) -> list[tuple[float, float, float]]:
    """(DOM ready, loaded, first paint) in milliseconds of each opening."""
    from playwright.sync_api import sync_playwright

    measured: list[tuple[float, float, float]] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(times):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_timeout(300)
            ready, loaded, painted, items = map(float, tab.evaluate(PAINTED))
            assert items > 0, "the gallery is not drawn"
            measured.append((ready, loaded, painted))
            context.close()
        browser.close()
    return measured


if __name__ == "__main__":
    main()
