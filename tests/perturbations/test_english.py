"""The one reading of English: words and their places, parses and their store, what rules ask of a sentence, forms."""

import sqlite3

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from video_contrast.errors import UsageError
from video_contrast.perturbations.english import Sentence, parse, parse_one
from video_contrast.perturbations.english.forms import fix_article, inflect, lemma, verb_tags, within
from video_contrast.perturbations.english.lexicon import has_class, words_of
from video_contrast.perturbations.english.parse import CaptionStore

# The package's module, which the function of the same name hides.
parse_module = __import__("sys").modules["video_contrast.perturbations.english.parse"]


@pytest.fixture
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(parse_module, "_sentences", type(parse_module._sentences)())
    monkeypatch.delenv("VIDEO_CONTRAST_PARSES", raising=False)


def words(sentence: Sentence) -> list[tuple[str, str, str, int]]:
    return [(word.text, word.tag, word.dep, word.head) for word in sentence.words]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
@example("two-year-old's toys cost 1,000.50 at 7:30?!")
@example("il dort 日本語 🎉 \ud800")
@example("")
def test_any_text_is_cut_into_words_that_cover_all_but_white_space(caption):
    sentence, at = parse_one(caption), 0
    for word in sentence.words:
        assert caption[word.start : word.end].lower() == word.text
        assert not caption[at : word.start].strip()  # nothing but white space is left out
        assert word.tag and word.lemma and 0 <= word.head < len(sentence)
        at = word.end
    assert not caption[at:].strip()


def test_monstrous_captions_are_parsed():
    assert [len(sentence) for sentence in parse(["x" * 10_000, "a man runs. " * 100, ""])] == [1, 400, 0]


def test_a_parse_depends_on_its_caption_alone(nothing_remembered):
    captions = [f"a man {verb} {number} balls" for verb in ("throws", "catches") for number in range(40)]
    together = [words(sentence) for sentence in parse(captions)]
    parse_module._sentences.clear()
    assert [words(sentence) for sentence in parse(captions[::-1])][::-1] == together
    parse_module._sentences.clear()
    assert [words(parse_one(caption)) for caption in captions] == together


@pytest.mark.processes
def test_the_number_of_processes_changes_nothing(nothing_remembered, monkeypatch):
    captions = [f"a man throws {number} balls" for number in range(60)]
    alone = [words(sentence) for sentence in parse(captions)]
    monkeypatch.setattr(parse_module, "_PART", 20)
    parse_module._sentences.clear()
    assert [words(sentence) for sentence in parse(captions, num_proc=2)] == alone
    with pytest.raises(UsageError, match="at least 1"):
        parse(["a"], num_proc=0)


def test_parses_are_kept_between_runs_in_a_file(nothing_remembered, tmp_path, monkeypatch):
    captions, file = ["a dog digs a hole", "a cat sleeps", "\ud800 odd"], tmp_path / "parses.sqlite"
    first = [words(sentence) for sentence in parse(captions, cache=file)]
    parse_module._sentences.clear()
    monkeypatch.setattr(parse_module, "_codes", lambda captions, *_: pytest.fail("parsed again") if captions else [])
    assert [words(sentence) for sentence in parse(captions, cache=file)] == first
    assert sqlite3.connect(file).execute("SELECT count(*) FROM texts").fetchone() == (3,)


def test_memory_of_sentences_is_bounded(nothing_remembered, monkeypatch):
    monkeypatch.setattr(parse_module, "_IN_MEMORY", 10)
    assert len(parse([f"a dog eats {number} bones" for number in range(40)])) == 40
    assert len(parse_module._sentences) <= 10


def test_one_file_keeps_what_several_producers_made_of_a_caption(tmp_path):
    old, new = (CaptionStore(tmp_path / "captions.sqlite", f"parses {number}") for number in (1, 2))
    old.write({"a dog": "x"})
    new.write({"a dog": "y", "a cat": "z"})
    assert old.read(["a dog", "a cat"]) == {"a dog": "x"} and new.read(["a dog"]) == {"a dog": "y"}


@pytest.mark.parametrize(
    ("caption", "subject", "verb", "thing"),
    [
        ("a man is cutting an onion", "man", "cutting", "onion"),
        ("two girls play football in a park", "girls", "play", "football"),
        ("a man driving a car", "man", "driving", "car"),
        ("a woman who wears a hat", "woman", "wears", "hat"),
        ("add the onions to the pan", None, "add", "onions"),
        ("a dog runs", "dog", "runs", None),
    ],
)
def test_who_does_what_to_whom(caption, subject, verb, thing):
    sentence = parse_one(caption)
    place = next(n for n in sentence.verbs if sentence.words[n].text == verb)

    def text(n):
        return sentence.words[n].text if n is not None else None

    assert (text(sentence.subject(place)), text(sentence.object(place))) == (subject, thing)


@pytest.mark.parametrize(
    ("caption", "orders"),
    [
        ("add oil to the pan and stir", ["add", "stir"]),
        ("cut the bread and put it in the oven", ["cut", "put"]),
        ("a man adds oil and stirs", []),
        ("two men stand and smile", []),
        ("", []),
    ],
)
def test_orders(caption, orders):
    sentence = parse_one(caption)
    assert [sentence.words[n].text for n in sentence.imperatives] == orders


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [
        ("a man", False), ("two men", True), ("a man and a woman", True), ("a group of girls", True),
        ("some news", False), ("natural foods", True), ("gymnastics", False), ("people", True),
        ("a piece of bread", False),
    ],
)  # fmt: skip
def test_what_takes_a_plural_verb(phrase, plural):
    sentence = parse_one(f"the dog sees {phrase}")
    place = sentence.object(next(n for n in sentence.verbs if sentence.words[n].text == "sees"))
    assert place is not None and sentence.is_plural(place) is plural


def test_each_word_stands_once_in_the_lexicon_with_all_of_its_classes():
    assert has_class("man", "person") and has_class("man", "male") and not has_class("table", "person")
    assert {"a", "the", "is"} <= words_of("function")
    with pytest.raises(KeyError):
        words_of("no such class")


def test_lemmas_and_forms_of_caption_words():
    for word, tag, base in [
        ("men", "NNS", "man"), ("is", "VBZ", "be"), ("sat", "VBD", "sit"), ("lying", "VBG", "lie"), ("'s", "VBZ", "be"),
        ("Dicing", "VBG", "dice"), ("n't", "RB", "not"), ("knives", "NNS", "knife"), ("'s", "POS", "'s"),
    ]:  # fmt: skip
        assert lemma(word, tag) == base
    for base, tag, form in [
        ("run", "VBG", "running"), ("run", "VBD", "ran"), ("dice", "VBZ", "dices"), ("sit down", "VBG", "sitting down"),
        ("be", "VBP", "are"), ("saute", "VBN", "sauteed"), ("child", "NNS", "children"), ("blick", "VBG", "blicking"),
        ("weave", "VBP", "weave"), ("ski", "VBN", "skied"), ("ski down", "VBD", "skied down"),
    ]:  # fmt: skip
        assert inflect(base, tag) == form
    assert fix_article("there is a ", "uncle") == "there is an "


@pytest.mark.parametrize("tag", ["VBZ", "VBG", "VBD", "VBP"])
def test_forms_lead_back_to_their_lemmas(tag):
    for base in ("push", "pull", "carry", "stop", "sing", "throw", "teach", "dance", "lie", "panic", "play", "go"):
        form = inflect(base, tag)
        assert lemma(form, tag) == base and tag in verb_tags(form)


@pytest.mark.parametrize(
    ("phrase", "tag", "after"),
    [("Young men", "NNP", "young men"), ("Indian man", "JJ", "Indian man"), ("The man", "DT", "the man")],
)
def test_only_a_name_keeps_its_capital_inside_a_caption(phrase, tag, after):
    assert within(phrase, tag) == after
