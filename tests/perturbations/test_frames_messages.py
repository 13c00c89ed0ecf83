"""What the generator `frames` says of captions, tables and parsers that it cannot or can hardly use."""

import pytest

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.frames import choose_balanced, load_counts, parse, propose
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.parse import MODELS, resolve, version_note

GERMAN = ["ein mann reitet ein pferd", "zwei hunde rennen durch den schnee"]


@pytest.fixture(scope="module")
def counts() -> FrameCounts:
    return load_counts()


@pytest.mark.parametrize("text", ["red car number 3", "Guitar practice 2019.", "12", "ok"])
def test_short_english_captions_without_function_words_are_no_other_language(counts: FrameCounts, text: str) -> None:
    assert propose([("a", None, [text])], counts, parser="shallow").missing.keys() == {"a"}


def test_the_message_names_what_is_not_english(counts: FrameCounts) -> None:
    with pytest.raises(VideoContrastError, match=r"^the training captions \(--training\) do not look English"):
        load_counts({"a": GERMAN})
    with pytest.raises(VideoContrastError, match=r"^the captions do not look English.*build pairs"):
        propose([("a", None, GERMAN)], counts)


def test_a_parser_of_another_language_is_refused_before_it_is_looked_for() -> None:
    with pytest.raises(UsageError, match=r"'de_core_news_sm' is of another language \(de\)"):
        resolve("de_core_news_sm")
    with pytest.raises(VideoContrastError, match="'en_core_web_xx' is not installed"):
        propose([("a", None, ["a man runs"])], load_counts(), parser="en_core_web_xx")


def test_tags_that_were_asked_for_are_not_called_a_missing_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "as asked" in (version_note("shallow") or "")
    monkeypatch.setattr(parse, "resolve", lambda parser="auto": "shallow")
    assert "no parser is installed" in (version_note("auto") or "")


def test_a_parser_of_another_version_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "parser_name", lambda parser="auto": "en_core_web_sm-4.0.0")
    assert version_note() == "captions are parsed by en_core_web_sm-4.0.0, the shipped counts were made with " + (
        "en_core_web_sm-3.8"
    )
    monkeypatch.setattr(parse, "parser_name", lambda parser="auto": "en_core_web_sm-3.8.1")
    assert version_note() is None


def test_few_contrasts_are_explained_for_few_clips_too(counts: FrameCounts) -> None:
    odd = [(str(n), None, [f"the invoice of customer {n} was approved in the ledger"]) for n in range(10)]
    (note,) = [note for note in propose(odd, counts, parser="shallow").notes if "another domain" in note]
    assert "--training" in note
    assert not propose(odd[:3], counts, parser="shallow").advice()


@pytest.mark.skipif(resolve("auto") not in MODELS, reason="no parser: python -m spacy download en_core_web_sm")
def test_recipes_are_said_to_be_poor_ground_for_verbs(counts: FrameCounts) -> None:
    steps = ["boil the potatoes in water", "chop the onions", "add salt to the soup", "fry the onions in a pan"]
    found = propose([(text, None, [text]) for text in steps], counts)
    assert any("object_mc" in note for note in found.notes), found.notes
    assert choose_balanced(found).keys() | found.missing.keys() == set(steps)


def test_a_clip_without_a_contrast_is_explained_by_the_words_that_stand_against_it(counts: FrameCounts) -> None:
    clips = [("light", None, ["a man does something"]), ("none", None, ["the red car"])]
    missing = propose(clips, counts, parser="shallow").missing
    assert missing["light"] == "'does': light verb" and missing["none"] == "no verb (1)"
