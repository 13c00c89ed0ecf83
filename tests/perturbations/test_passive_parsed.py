"""The passive by parses: what it makes of captions, that records name the parser, and what happens without one."""

from pathlib import Path

import pytest
from datasets.fingerprint import Hasher

from video_contrast.perturbations.language import tag
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.text.checkpoints import produced_by
from video_contrast.perturbations.text.passive import Why, parser, parses, passive, refusals
from video_contrast.perturbations.text_transform import TextPerturbation

RULES = {"active_to_passive": "rules"}
SOUP = "a man is stirring a soup in a pot"
GOLDEN = [
    line.split("\t")
    for line in (Path(__file__).parent / "golden_passive_parsed.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
parsed = pytest.mark.skipif(
    not (parser() or "").startswith("en_core_web_sm-3.8"),
    reason="the examples are of en_core_web_sm 3.8: python -m spacy download en_core_web_sm",
)


def in_passive(captions):
    return perturb_captions(captions, "active_to_passive", ids=range(len(captions)), models=RULES)


@pytest.fixture
def no_parser(monkeypatch):
    from video_contrast.perturbations.contrast.generators.frames import parse

    monkeypatch.setattr(parse, "MODELS", ())


@parsed
def test_parsed_captions_become_what_the_examples_say():
    done = in_passive([before for before, _ in GOLDEN])
    wrong = [(got, after) for got, (_, after) in zip(done, GOLDEN, strict=True) if got != after]
    assert not wrong


@parsed
@pytest.mark.parametrize(
    ("caption", "why"),
    [
        ("a man washes his car", Why.BOUND),
        ("a man leaves a house with a dog", Why.TAIL),
        ("a man takes a look", Why.NO_PASSIVE),
        ("a man sings in a bar", Why.NO_OBJECT),
        ("a man mixes and pours a liquid", Why.SECOND_VERB),
    ],
)
def test_a_caption_that_stays_has_a_reason(caption, why):
    words = (parses([caption]) or [None])[0]
    assert in_passive([caption]) == [caption]
    assert why in {reason for _, reason in refusals(caption, tag([caption])[0], words)}


@parsed
def test_a_caption_does_not_depend_on_its_neighbours_and_is_parsed_once(monkeypatch):
    captions = [before for before, _ in GOLDEN[:8]]
    together = in_passive(captions)
    from video_contrast.perturbations.contrast.generators.frames import parse

    monkeypatch.setattr(parse, "_codes", lambda *_: pytest.fail("parsed again"))
    assert [in_passive([caption])[0] for caption in reversed(captions)] == together[::-1]


@parsed
def test_records_and_caches_name_the_parser(monkeypatch):
    with_parser = TextPerturbation("active_to_passive", models=RULES)
    assert produced_by("active_to_passive", "rules") == f"rules and {parser()}" and parser() in with_parser.version
    from video_contrast.perturbations.contrast.generators.frames import parse

    monkeypatch.setattr(parse, "MODELS", ())
    without = TextPerturbation("active_to_passive", models=RULES)
    assert produced_by("active_to_passive", "rules") == "rules"
    assert Hasher.hash(with_parser) != Hasher.hash(without)


def test_without_a_parser_the_tags_decide(no_parser):
    assert parser() is None and parses([SOUP]) is None
    assert in_passive([SOUP]) == [SOUP]  # in a pot, says which word?
    assert in_passive(["a man is stirring a soup"]) == ["a soup is being stirred by a man"]
    assert in_passive([SOUP]) == [passive(SOUP, tag([SOUP])[0])]


@pytest.mark.parametrize("caption", ["a man holds his hands up", "a man interviews another man", "a man sees others"])
def test_what_means_someone_named_later_does_not_come_first(caption, no_parser):
    assert in_passive([caption]) == [caption]
