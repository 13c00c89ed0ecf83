"""Actions and things by an AMR parser: graphs in PENMAN notation to words, and contrasts built on those words."""

import sys
import types
from pathlib import Path

import pytest
from contrast_verbs import RULES, Listed

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.language import tag, tagger_name
from video_contrast.perturbations.language.amr import Meaning, concepts, meanings

# As a parser and an aligner write them: alignments count the tokens of `# ::tok`.
GRAPHS = {
    "a man talks to a dog that isn't running": """
# ::snt a man talks to a dog that isn't running
# ::tok a man talks to a dog that is n't running
(t / talk-01~e.2
   :ARG0 (m / man~e.1)
   :ARG2~e.3 (d / dog~e.5
            :ARG0-of (r / run-02~e.9
                  :polarity -~e.8)))
""",
    "a player takes a walk near the door": """
# ::snt a player takes a walk near the door
(w / walk-01~e.4
   :ARG0 (p / person~e.1
         :ARG0-of (p2 / play-01~e.1))
   :location (n / near-02~e.5
         :op1 (d / door~e.7)))
""",
    "two men sing (loudly) on a stage": """
# ::snt two men sing (loudly) on a stage
(s / sing-01 :ARG0 (m / man :quant 2) :manner (l / loud) :location (s2 / stage :wiki "a) / stage-01"))
""",
}


def _named(caption: str, places: frozenset[int]) -> list[str]:
    return [tag([caption], tagger="hanta")[0][place].text for place in sorted(places)]


@pytest.mark.parametrize(
    ("number", "actions", "objects"),
    [
        (0, ["talks", "running"], ["man", "dog"]),
        (1, ["walk", "near"], ["player", "door"]),  # a player is a person first; "takes" is no concept
        (2, ["sing"], ["men", "stage"]),  # no alignments: by dictionary forms
    ],
)
def test_frames_are_actions_and_other_concepts_things(number: int, actions: list[str], objects: list[str]) -> None:
    caption, graph = list(GRAPHS.items())[number]
    meaning = Meaning.of(caption, graph)
    assert _named(caption, meaning.actions) == actions
    assert _named(caption, meaning.things) == objects


def test_text_in_quotes_is_no_concept() -> None:
    assert [node.name for node in concepts('(c / city :name (n / name :op1 "(x / y-01)~e.3"))')] == ["city", "name"]


def test_relations_that_nobody_does_are_no_actions() -> None:
    meaning = Meaning.of("a cat on a mat", "(b / be-located-at-91~e.2 :ARG1 (c / cat~e.1) :ARG2 (m / mat~e.4))")
    assert not meaning.actions and meaning.things == {1, 4}


def test_an_action_that_the_tagger_takes_for_a_noun_becomes_a_verb() -> None:
    caption = "cartoon lion roars"
    tokens = [token._replace(tag="NNS" if token.text == "roars" else "NN") for token in tag([caption])[0]]
    found = Meaning.of(caption, "(r / roar-01~e.2 :ARG0 (l / lion~e.1))").tokens(tokens)
    assert (found[2].tag, found[2].lemma) == ("VBZ", "roar")
    assert found[:2] == tokens[:2]


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.txt"
    path.write_text("\n".join(GRAPHS.values()), encoding="utf-8")
    return path


def test_contrasts_change_only_what_the_graph_names(graphs: Path) -> None:
    tagger = f"amr:{graphs}"
    captions = [*GRAPHS, "a woman is dancing on a stage"]  # the last has no graph
    ids = [str(n) for n in range(4)]
    for seed in range(5):
        edits, counts = verb.contrasts(captions, ids, generator=Listed(), constraints=RULES, tagger=tagger, seed=seed)
        old = [edit.old.split()[0] if edit else None for edit in edits]
        assert old[0] in ("talks", "running")
        assert old[1] is None  # "takes" is a verb to the tagger; the graph knows no such action
        assert (old[2], old[3]) == ("sing", "dancing")
        assert counts["no_graph"] == 1 and counts["no_verb"] == 1


def test_a_function_is_a_parser_and_its_name_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_parser")
    asked: list[str] = []

    def parse(captions: list[str]) -> list[str | None]:
        asked.extend(captions)
        return [GRAPHS.get(caption) for caption in captions]

    module.parse = parse  # type: ignore[attr-defined]
    module.short = lambda captions: []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_parser", module)
    parser = meanings("amr:my_parser:parse")
    assert parser is not None
    first = next(iter(GRAPHS))
    found = parser.read([first, "", first, "a dog"])
    assert parser.read([first]) == found[:1]
    assert asked == [first, "a dog"]  # each caption once
    assert found[0] == found[2] is not None and found[1] is found[3] is None
    assert tagger_name("amr:my_parser:parse") == tagger_name("auto") + "+my_parser:parse"
    with pytest.raises(VideoContrastError, match="gave 0 graphs for 1 captions"):
        meanings("amr:my_parser:short").read(["a dog"])  # type: ignore[union-attr]


def test_what_is_no_graph_is_said(tmp_path: Path) -> None:
    for graph in ("(w / walk-01", "walk", ""):
        with pytest.raises(VideoContrastError, match="no graph in PENMAN notation"):
            Meaning.of("a man walks", graph)
    with pytest.raises(VideoContrastError, match="tokens 'a dog' are not those of 'a man walks'"):
        Meaning.of("a man walks", "# ::tok a dog\n(w / walk-01~e.1)")
    empty = tmp_path / "empty.txt"
    empty.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(VideoContrastError, match="each needs a line '# ::snt CAPTION'"):
        meanings(f"amr:{empty}")


@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        ("amr:no/such.txt", "no such file"),
        ("amr:no_such_module:parse", "No module named 'no_such_module'"),
        ("amr:json:parse", "no attribute 'parse'"),
    ],
)
def test_a_parser_that_is_not_there_is_said(tagger: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        meanings(tagger)


def test_the_absent_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amrlib", None)
    with pytest.raises(VideoContrastError, match="pip install amrlib"):
        meanings("amr")


def test_amrlib_parses_with_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from video_contrast.perturbations.language import amr

    library = types.ModuleType("amrlib")
    model = types.SimpleNamespace(parse_sents=lambda captions: [GRAPHS.get(caption) for caption in captions])
    library.load_stog_model = lambda: model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "amrlib", library)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.8.0")
    amr._load.cache_clear()
    parser = meanings("amr")
    amr._load.cache_clear()
    assert parser is not None and parser.name == "amrlib-0.8.0"
    [meaning] = parser.read(["two men sing (loudly) on a stage"])
    assert meaning is not None and meaning.actions == {2}
