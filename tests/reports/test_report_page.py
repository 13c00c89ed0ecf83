"""The report in a browser: from disk, without a network, by keyboard, with captions that hold markup."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fabricate
import pytest

from video_contrast.reports import write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("page")
    fabricate.make_set(root / "set", 90, captions=fabricate.HOSTILE)
    for model, skill in (("good", 1.2), ("poor", -2.0)):
        fabricate.make_run(root / "runs" / model, root / "set", ["verb_mc", "retrieval"], model=model, skill=skill,
                          conditions={"text:keyboard": 0.5})  # fmt: skip
    return write_report([root / "runs"], root / "report.html", max_failures=20)


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """One for all tests: a new one takes the browser as long as all that a test does with it."""
    context = browser.new_context()
    context.set_default_timeout(60_000)
    opened = context.new_page()
    opened.asked, opened.errors = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.on("console", lambda said: opened.errors.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()


@pytest.fixture
def page(tab: Any, report: Path) -> Iterator[Any]:
    tab.asked.clear()
    tab.set_viewport_size({"width": 1200, "height": 900})
    tab.emulate_media(media="screen", color_scheme="light")
    tab.goto(report.as_uri())
    yield tab
    assert tab.errors == []
    tab.evaluate("localStorage.clear()")


def until(page: Any, items: int) -> None:
    """Waits for the search to be done (the page forbids eval, so no function is waited for)."""
    from playwright.sync_api import expect

    expect(page.locator("#items .item")).to_have_count(items)


def choose(page: Any, model: str, config: str) -> None:
    value = page.evaluate(
        """([model, config]) => { const d = JSON.parse(document.getElementById("data").textContent);
           return d.runs.findIndex((r) => r.model === model && d.sets[r.set].name.includes(config)); }""",
        [model, config],
    )
    page.select_option("#run", str(value))


def test_it_opens_from_disk_and_asks_no_network(page: Any, report: Path) -> None:
    assert page.locator("h1").inner_text() == "Contrast sets and robustness"
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert {url for url in page.asked if not url.startswith(("data:", "blob:"))} == {report.as_uri()}


def test_a_caption_with_markup_stays_text(page: Any) -> None:
    choose(page, "poor", "verb_mc")
    page.fill("#search", "window.hacked")
    until(page, 1)
    page.locator("#items .item").first.click()
    assert fabricate.HOSTILE[0] in page.locator("#items .item").inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#items script, #items img[src=x], #items b:has-text('bold')").count() == 0


def test_right_to_left_and_emoji_captions_keep_their_direction_and_highlight(page: Any) -> None:
    choose(page, "poor", "verb_mc")
    page.select_option("#outcome", "all")
    for words in ("رجل", "👩‍🚀"):
        page.fill("#search", words)
        until(page, 1)
        page.locator("#items .item").first.click()
        assert page.locator("#items .said [dir=auto]").count() == 5
        assert page.locator("#items .said mark").all_inner_texts() == ["silently"]


def test_filters_agree_with_the_scores(page: Any) -> None:
    choose(page, "good", "verb_mc")
    counts = {}
    for outcome in ("wrong", "right", "all"):
        page.select_option("#outcome", outcome)
        counts[outcome] = int(page.locator("#count").inner_text().split(" ")[0])
    assert counts["wrong"] + counts["right"] == counts["all"] == 90
    page.select_option("#outcome", "wrong")
    page.select_option("#kind", "verb_lm")
    hard = int(page.locator("#count").inner_text().split(" ")[0])
    page.select_option("#kind", "random")
    assert hard + int(page.locator("#count").inner_text().split(" ")[0]) == counts["wrong"]


def test_filters_that_leave_nothing_say_so(page: Any) -> None:
    choose(page, "poor", "verb_mc")
    page.fill("#search", "no caption says this")
    until(page, 0)
    assert page.locator("#items").inner_text() == "No item fits these filters."
    page.keyboard.press("Escape")  # clears the field, and its filter with it
    page.locator("#items .item").first.wait_for()
    assert page.locator("#search").input_value() == ""
    assert page.locator("#items .none").count() == 0


def test_the_keyboard_walks_opens_and_searches(page: Any) -> None:
    choose(page, "poor", "verb_mc")
    page.locator("h2").first.click()
    for key in "jjk":
        page.keyboard.press(key)
    assert page.locator("[aria-current=true]").count() == 1
    assert page.evaluate("[...document.querySelectorAll('.item')].findIndex((i) => i.ariaCurrent === 'true')") == 0
    for _ in range(60):
        page.keyboard.press("j")
    place = page.evaluate("[...document.querySelectorAll('.item')].findIndex((i) => i.ariaCurrent === 'true')")
    assert place == 60  # beyond what was drawn at first
    before = page.locator("#outcome").input_value()
    page.keyboard.press("o")
    assert page.locator("#outcome").input_value() != before
    page.keyboard.press("o")  # wrong, right, all
    page.keyboard.press("/")
    page.keyboard.type("song 77")
    until(page, 1)
    assert page.evaluate("document.activeElement.id") == "search"


def test_a_compact_row_opens_and_frames_enlarge(page: Any) -> None:
    choose(page, "poor", "verb_mc")
    page.locator("img.strip").first.click()
    assert page.locator("#zoom").evaluate("(dialog) => dialog.open")
    page.keyboard.press("Escape")
    assert page.locator("img.strip").first.evaluate("(image) => image.naturalWidth") > 100


def test_each_run_is_offered_with_its_model_named_once(page: Any) -> None:
    groups = page.locator("#run optgroup").evaluate_all(
        "(all) => all.map((g) => [g.label, [...g.children].map((o) => o.textContent.split(' — ')[0])])"
    )
    assert [[label.split(" / ")[-1], options] for label, options in groups] == [
        ["verb_mc", ["good, verb_mc", "poor, verb_mc"]], ["retrieval", ["good, retrieval", "poor, retrieval"]],
    ]  # fmt: skip


def test_light_and_dark_differ_and_the_button_switches(page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colour)
    page.locator("#theme").click()
    assert light != dark and page.evaluate(colour) == light


def test_it_fits_a_phone_and_prints(page: Any) -> None:
    cut = """[...document.querySelectorAll('.whisker')].filter((line) => (
        line.getBoundingClientRect().right + 3.5 > line.closest('td').getBoundingClientRect().right + .1)).length"""
    assert page.evaluate(cut) == 0  # half of the mark of 100 stands beyond the end of its line
    page.set_viewport_size({"width": 360, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.evaluate(cut) == 0
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    wide = (
        "[...document.querySelectorAll('table, svg')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)"
    )
    assert page.evaluate(f"{wide}.map((e) => e.outerHTML.slice(0, 200))") == []
    assert not page.locator(".filters").is_visible()
    assert len(page.pdf()) > 20_000


def test_letters_of_plots_are_legible_on_a_phone_and_sections_are_a_menu(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    sizes = page.evaluate(
        """[...document.querySelectorAll("figure.plot svg text")].filter((t) => t.getBoundingClientRect().width > 0)
           .map((t) => { const m = t.getScreenCTM();
                         return parseFloat(getComputedStyle(t).fontSize) * Math.hypot(m.a, m.b); })"""
    )
    assert len(sizes) > 50 and min(sizes) >= 11
    assert page.evaluate("document.documentElement.scrollHeight") < 12_000
    links = page.locator("nav a")
    assert not links.first.is_visible()
    page.locator("#menu").click()
    assert all(links.nth(n).is_visible() for n in range(links.count()))
    assert page.evaluate(
        "[...document.querySelectorAll('nav a')].every((a) => a.getBoundingClientRect().right <= innerWidth)"
    )
    links.filter(has_text="Gallery").click()
    assert not links.first.is_visible()
    from playwright.sync_api import expect

    expect(page.locator("#menu")).to_have_text("Gallery")


def test_no_table_scrolls_sideways_on_a_wide_screen(tab: Any, tmp_path: Path) -> None:
    """Not even that of the gammas: all categories of visual and text perturbations, retrieval both ways."""
    root = fabricate.make_set(tmp_path / "set", 20)
    conditions = {f"visual:{name}@3": 0.9 for name in ("shot_noise", "jpeg", "zoom_blur", "jumble", "rotate")}
    conditions |= {f"text:{name}": 0.8 for name in ("keyboard", "drop_first", "append_irr", "shuffle_order", "tense")}
    conditions |= {"visual:jpeg@3+text:keyboard": 0.5}
    for model in ("bag-of-frames", "temporal-plain", "temporal"):
        fabricate.make_run(
            tmp_path / "runs" / model, root, ["retrieval", "verb_mc"], model=model, conditions=conditions
        )
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(write_report([tmp_path / "runs"], tmp_path / "r.html", max_failures=0).as_uri())
    tab.locator("#robustness .tabs button").last.click()
    tab.locator("#robustness .group.on summary").click()
    assert (
        tab.evaluate(
            """[...document.querySelectorAll(".table .scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1)
           .map((e) => e.ariaLabel)"""
        )
        == []
    )


def test_a_section_of_several_sets_shows_one_at_a_time_and_all_on_paper(page: Any) -> None:
    tabs, groups = page.locator("#similarity .tabs button"), page.locator("#similarity .group")
    assert tabs.count() == 0 and groups.count() == 1
    tabs, groups = page.locator("#robustness .tabs button"), page.locator("#robustness .group")
    assert tabs.all_inner_texts() == ["verb_mc", "retrieval"]
    assert [groups.nth(n).is_visible() for n in range(2)] == [True, False]
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert [groups.nth(n).is_visible() for n in range(2)] == [False, True]
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    page.emulate_media(media="print")
    assert [groups.nth(n).is_visible() for n in range(2)] == [True, True]
    assert page.locator("#robustness h3").all_inner_texts() == ["verb_mc", "retrieval"]


def test_plots_download_as_svg_png_and_csv(page: Any) -> None:
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b"config,model")):
        with page.expect_download() as waiting:
            page.locator(f"[data-{kind}=accuracy-dots]").click()
        data = Path(waiting.value.path()).read_bytes()
        assert data.startswith(start)
        assert b"var(--" not in data


def test_many_models_with_long_names_are_all_named_inside_of_their_plots(browser: Any, tmp_path: Path) -> None:
    root = fabricate.make_set(tmp_path / "set", 20)
    names = [f"someone/video-model-{n}-of-some-length-{'x' * 9 * n}-$a$b_{{{n}}}" for n in range(10)]
    for number, name in enumerate(names):
        fabricate.make_run(tmp_path / "runs" / str(number), root, ["verb_mc"], model=name, skill=1 + 0.2 * number,
                          conditions={"text:keyboard": 0.2})  # fmt: skip
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    opened.goto(write_report([tmp_path / "runs"], tmp_path / "r.html", max_failures=0).as_uri())
    for plot in ("accuracy-dots", "gamma-bars-verb_mc", "sensitivity-verb_mc"):
        found = opened.evaluate(
            """(id) => { const svg = document.querySelector(`#plot-${id} svg`), box = svg.getBoundingClientRect();
               return [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()])
                 .map(([text, b]) => [text, b.left >= box.left - 1 && b.right <= box.right + 1]); }""",
            plot,
        )
        for name in names:
            assert any(text.startswith(name[:18]) and f"{{{name[-2]}}}" in text for text, _ in found), (plot, name)
        assert [text for text, inside in found if not inside] == []
    opened.close()
