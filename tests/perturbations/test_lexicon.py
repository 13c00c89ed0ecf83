"""The action lexicon: format of its tables, and what the loader derives from them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.english.forms import inflect_name, verb_tags
from video_contrast.perturbations.english.lexicon import words_of

LEXICON = Path(__file__).parents[2] / "perturbations" / "contrast" / "lexicon"
THINGS = sorted(LEXICON.glob("things_*.tsv"))
USES = sorted(LEXICON.glob("uses_*.tsv"))
NOUN = re.compile(r"[a-z0-9&][a-zéñ0-9&'. -]*")
UNIT = re.compile(r"[a-z-]+( [a-z-]+){0,2}")


def rows(path: Path, *header: str) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == list(header)
    cells = [line.split("\t") for line in lines[1:]]
    assert [row for row in cells if len(row) != len(header)] == []
    assert [row[0] for row in cells] == sorted(row[0] for row in cells), f"{path.name} is not sorted"
    return cells


def things() -> list[list[str]]:
    return [row for path in THINGS for row in rows(path, "noun", "class", "size", "looks")]


def test_classes_are_unique_and_described() -> None:
    classes = rows(LEXICON / "classes.tsv", "class", "parent", "description")
    names = [name for name, _, _ in classes]
    assert len(names) == len(set(names))
    assert not set(names) & {parent for _, parent, _ in classes}
    assert all(parent and description for _, parent, description in classes)


def test_things_have_known_classes_and_sizes() -> None:
    classes = {row[0] for row in rows(LEXICON / "classes.tsv", "class", "parent", "description")}
    table = things()
    assert [row for row in table if row[1] not in classes or row[2] not in {"t", "h", "a", "b", "-"}] == []
    assert [row[0] for row in table if not NOUN.fullmatch(row[0])] == []
    assert [pair for pair, count in Counter((row[0], row[1]) for row in table).items() if count > 1] == []


def test_things_are_singular_where_a_singular_exists() -> None:
    """No noun is the regular plural of another noun of its class."""
    pairs = {(noun, kind) for noun, kind, _, _ in things()}
    plurals = {(noun + ending, kind) for noun, kind in pairs for ending in ("s", "es")}
    plurals |= {(noun[:-1] + "ies", kind) for noun, kind in pairs if noun.endswith("y")}
    assert sorted(pairs & plurals) == []


def test_its_people_are_the_persons_of_the_english_words() -> None:
    """But for words whose commonest meaning in captions is another one."""
    lexicon, persons, no_persons = load_lexicon(), words_of("person"), words_of("no_person")
    people = {noun for noun in lexicon.nouns() if lexicon.is_a(lexicon.things(noun)[0].category, "people")}
    named = {noun for noun in lexicon.nouns() if not persons.isdisjoint((noun, noun.rpartition(" ")[2]))}
    assert people & no_persons == {"cleaner", "cobbler", "curler", "rafter"}
    assert named - no_persons == people - no_persons | {"cartoon", "star", "streamer"}


def test_a_thing_that_is_only_plural_is_found_by_what_a_parser_makes_of_it() -> None:
    lexicon = load_lexicon()
    assert lexicon.things("pant") == lexicon.things("pants") != ()
    assert {"take off"} <= {swap.unit for swap in lexicon.swaps("put on", "t", "man", "sunglass")}
    assert inflect_name("shorts", "NNS") == "shorts"


@pytest.mark.parametrize("path", USES, ids=lambda path: path.name)
def test_uses_are_short_distinct_units_of_known_nouns(path: Path) -> None:
    nouns = {row[0] for row in things()}
    table = [(noun, actions.split(", ")) for noun, actions in rows(path, "noun", "actions")]
    assert [noun for noun, _ in table if noun not in nouns] == []
    assert len({noun for noun, _ in table}) == len(table)
    assert [(noun, unit) for noun, units in table for unit in units if not UNIT.fullmatch(unit)] == []
    assert [noun for noun, units in table if len(units) != len(set(units)) or not 5 <= len(units) <= 15] == []


def test_wider_names_are_other_nouns_of_the_tables() -> None:
    nouns = {row[0] for row in things()}
    table = [(noun, set(wider.split(","))) for noun, wider in rows(LEXICON / "wider.tsv", "noun", "wider")]
    assert [noun for noun, wider in table if not {noun, *wider} <= nouns or noun in wider] == []
    pairs = rows(LEXICON / "alike.tsv", "noun", "other")
    assert [pair for pair in pairs if not set(pair) <= nouns or pair[0] >= pair[1]] == []
    lexicon = load_lexicon()
    assert lexicon.may_name_one("road", "path") and lexicon.may_name_one("path", "country road")
    assert lexicon.may_name_one("beer", "beverage") and not lexicon.may_name_one("piano", "guitar")
    assert "beverage" in lexicon.wider("beer") and "guitar" not in lexicon.wider("piano")
    assert lexicon.wider("very cold beer") == lexicon.wider("beer") and lexicon.wider("blorp") == frozenset()


def test_peers_are_nouns_of_the_tables_and_stand_for_each_other() -> None:
    nouns, lexicon = {noun for noun, *_ in things()}, load_lexicon()
    table = rows(LEXICON / "peers.tsv", "role", "heads", "nouns")
    assert {role for role, _, _ in table} == {"object", "subject", "place", "*"}
    assert [listed for _, _, listed in table if not set(listed.split(",")) <= nouns] == []
    assert [listed for _, _, listed in table if len(set(listed.split(","))) < max(3, len(listed.split(",")))] == []
    assert any("bedroom" in group.nouns for group in lexicon.peers("kitchen"))
    assert lexicon.peers("sofa") == lexicon.peers("couch") and lexicon.peers("blorp") == ()


def test_places_say_where_they_are_and_how_one_is_there() -> None:
    table = rows(LEXICON / "places.tsv", "noun", "setting", "preposition")
    nouns = {row[0] for row in things()}
    assert [noun for noun, _, _ in table if noun not in nouns] == []
    assert len({noun for noun, _, _ in table}) == len(table)
    assert {setting for _, setting, _ in table} == {"indoor", "outdoor", "either"}
    assert {preposition for _, _, preposition in table} == {"in", "on", "at"}
    parents = {name: parent for name, parent, _ in rows(LEXICON / "classes.tsv", "class", "parent", "description")}
    places = {noun for noun, kind, _, _ in things() if parents[kind] == "place"}
    assert sorted(places - {noun for noun, _, _ in table}) == []


def test_attributes_oppose_both_ways_and_never_within_a_group() -> None:
    table = rows(LEXICON / "attributes.tsv", "adjective", "dimension", "group", "opposites", "classes")
    group = {adjective: tag for adjective, _, tag, _, _ in table}
    opposites = {adjective: set(filter(None, cell.split(","))) for adjective, _, _, cell, _ in table}
    assert len(group) == len(table)
    assert [(a, b) for a, others in opposites.items() for b in others if a not in opposites.get(b, ())] == []
    assert [(a, b) for a, others in opposites.items() for b in others if group[a] == group[b]] == []
    classes = rows(LEXICON / "classes.tsv", "class", "parent", "description")
    known = {cell for name, parent, _ in classes for cell in (name, parent)}
    assert [row[0] for row in table if not set(row[4].split(",")) <= known] == []


ACTION_VALUES = {
    "frame": set("itp"),
    "seen": set("01"),
    "posture": {"stand", "sit", "lie", "walk", "run", "jump", "ride", "swim", "fly", "climb", "kneel", "any"},
    "hands": {"busy", "free", "any"},
    "motion": {"-", "in", "out", "up", "down", "on", "off", "toward", "away", "around", "across", "over", "along"},
    "span": set("sm"),
}
ACTION_COLUMNS = ("unit", "group", "frame", "subject", "object", *list(ACTION_VALUES)[1:5], "result", "span", "scene")


def actions() -> list[dict[str, str]]:
    return [dict(zip(ACTION_COLUMNS, row, strict=True)) for row in rows(LEXICON / "actions.tsv", *ACTION_COLUMNS)]


def test_actions_have_known_values_classes_and_scenes() -> None:
    classes = {name for row in rows(LEXICON / "classes.tsv", "class", "parent", "description") for name in row[:2]}
    scenes = {row[0] for row in rows(LEXICON / "scenes.tsv", "scene", "mixes", "description")} | {"any"}
    table = actions()
    assert [(row["unit"], key) for row in table for key, known in ACTION_VALUES.items() if row[key] not in known] == []
    assert [row["unit"] for row in table if not set(row["scene"].split(",")) <= scenes] == []
    selected = [
        (row["unit"], row[side].partition(":")[0].split(",")) for row in table for side in ("subject", "object")
    ]
    assert [(unit, name) for unit, names in selected for name in names if name not in classes | {"", "-"}] == []
    assert [row["unit"] for row in table if (row["frame"] == "i") != (row["object"] == "-")] == []


def test_scenes_mix_both_ways() -> None:
    mixes = {
        scene: set(others.split(","))
        for scene, others, _ in rows(LEXICON / "scenes.tsv", "scene", "mixes", "description")
    }
    assert [(a, b) for a, others in mixes.items() for b in others if a not in mixes[b]] == []


def test_pairs_are_of_known_units_and_in_one_table() -> None:
    known = {row[key] for row in actions() for key in ("unit", "group")}
    tables = [rows(LEXICON / f"{name}.tsv", "unit", "other") for name in ("opposites", "together", "excludes")]
    pairs = [tuple(row) for table in tables for row in table]
    assert [pair for pair in pairs if not set(pair) <= known or pair[0] >= pair[1]] == []
    assert [pair for pair, count in Counter(pairs).items() if count > 1] == []


def test_exclusion_is_symmetric_and_never_within_a_group() -> None:
    lexicon = load_lexicon()
    units = lexicon.units[::37]
    assert units
    for first in units:
        groups = {action.group for action in lexicon.actions(first)}
        for second in units:
            reason = lexicon.excludes(first, second)
            assert (reason is None) == (lexicon.excludes(second, first) is None)
            if groups & {action.group for action in lexicon.actions(second)}:
                assert reason is None


@pytest.mark.parametrize(
    "first, second, noun", [("peel", "juggle", "potato"), ("wash", "drive", "car"), ("open", "close", "door")]
)
def test_units_that_exclude_each_other(first: str, second: str, noun: str) -> None:
    assert load_lexicon().excludes(first, second, noun)


@pytest.mark.parametrize(
    "first, second", [("talk", "walk"), ("cook", "fry"), ("run", "play"), ("talk about", "wash"), ("nonsense", "sit")]
)
def test_units_that_may_both_be_true(first: str, second: str) -> None:
    assert load_lexicon().excludes(first, second) is None


def test_attributes_places_and_ways_are_whole() -> None:
    lexicon = load_lexicon()
    table = rows(LEXICON / "classes.tsv", "class", "parent", "description")
    classes = {name for row in table for name in row[:2]}
    for word, attribute in lexicon.attributes.items():
        assert attribute.opposites <= lexicon.attributes.keys(), word
        assert all(word in lexicon.attributes[other].opposites for other in attribute.opposites), word
    assert {place.setting for place in lexicon.places.values()} == {"indoor", "outdoor", "either"}
    for way, other, verbs, before in rows(LEXICON / "ways.tsv", "way", "other", "verbs", "before"):
        assert way != other
        assert verbs == "any" or all("VB" in verb_tags(verb) for verb in verbs.split(","))
        assert before in ("any", "-") or all(name in classes or lexicon.things(name) for name in before.split(","))


SWAPS = ("unit", "frame", "subject", "objects", "replacements")
SWAP = re.compile(r"(~?|~?!)[a-z-]+( [a-z-]+){0,5}|[a-z-]+( [a-z-]+)? _ [a-z]+( [a-z]+){0,2}( ![a-z]+( [a-z]+)?)?")


def test_swaps_are_distinct_units_for_a_frame() -> None:
    table = rows(LEXICON / "swaps.tsv", *SWAPS)
    keys = [(unit, *row[1:4]) for row in table for unit in row[0].split("|")]
    assert len(set(keys)) == len(keys)
    assert {(row[1], row[2]) for row in table} <= {
        (frame, subject) for frame in ("i", "t", "p", "o", "t+p") for subject in ("person", "animal", "thing")
    }
    for unit, frame, _, objects, replacements in table:
        listed = replacements.split(", ")
        assert len(set(listed)) == len(listed) and all(SWAP.fullmatch(text) for text in listed), (unit, listed)
        assert (objects == "-") == (frame == "i") and unit not in listed, unit
        assert (" _ " in unit) == (frame == "t+p"), unit
        assert frame == "t+p" or not any(" _ " in text and " !" not in text for text in listed), unit
        assert frame in ("t", "t+p") or not any(" _ " in text for text in listed), unit
        assert frame == "p" or not any(text.startswith("~") for text in listed), unit
        assert frame in ("i", "p", "o") or not any(text.startswith(("!", "~!")) for text in listed), unit


EXCHANGES = ("frame", "subject", "objects", "behind", "actions")


def test_exchanges_are_of_distinct_actions_of_known_classes() -> None:
    classes = {name for row in rows(LEXICON / "classes.tsv", "class", "parent", "description") for name in row[:2]}
    nouns = {row[0] for row in things()} | {"groceries", "headphone", "leave"}  # as the parser gives them
    doers = classes | {"thing"}
    table = rows(LEXICON / "exchanges.tsv", *EXCHANGES)
    assert len({tuple(row) for row in table}) == len(table)
    for frame, subject, objects, behind, actions in table:
        parts = [part.split(", ") for part in actions.split("; ")]
        units = [unit for part in parts for unit in part]
        assert frame in ("i", "t") and set(subject.split(",")) <= doers, subject
        assert set(objects.split(",")) <= classes | nouns | {"*", "-"} and (objects != "-" or frame == "i"), objects
        assert behind.split(",") == sorted(behind.split(",")), behind
        assert len(parts) >= 2 and len(set(units)) == len(units), actions
        assert [unit for unit in units if not UNIT.fullmatch(unit)] == []


def test_of_an_exchange_either_action_may_replace_the_other_before_what_follows() -> None:
    lexicon = load_lexicon()

    def exchanged(unit: str, frame: str, subject: str, noun: str) -> dict[str, frozenset[str]]:
        return {swap.unit: swap.behind for swap in lexicon.swaps(unit, frame, subject, noun) if swap.is_exchange}

    assert "across" in exchanged("push", "t", "boy", "toy truck")["pull"]
    assert "across" in exchanged("pull", "t", "boy", "toy truck")["push"]
    assert "drag" not in exchanged("pull", "t", "boy", "toy truck")  # of one part
    assert "run" in exchanged("walk along", "p", "man", "river")
    assert "fly" in exchanged("walk", "i", "pigeon", "") and "fly" not in exchanged("walk", "i", "man", "")
    assert "fold" in exchanged("wave", "t", "hand", "flag")  # hands are of people


def test_swaps_of_a_noun_come_before_those_of_its_class_and_near_units_share_theirs() -> None:
    lexicon = load_lexicon()
    guitar, drum = (lexicon.swaps("play", "t", "person", noun) for noun in ("guitar", "drum"))
    assert guitar and drum and not any(swap.of_other_unit for swap in guitar)
    poured = lexicon.swaps("add _ to", "t+p", "man", "carrot")
    assert {("remove", "from", ""), ("chop", "", "")} <= {(swap.unit, swap.preposition, swap.place) for swap in poured}
    cut = lexicon.swaps("cut _ into", "t+p", "man", "carrot")
    assert ("add", "to", "the pan") in {(swap.unit, swap.preposition, swap.place) for swap in cut}
    own = {
        unit for row in rows(LEXICON / "swaps.tsv", *SWAPS) if row[1:3] == ["i", "person"] for unit in row[0].split("|")
    }
    near = {unit for unit in lexicon.units for swap in lexicon.swaps(unit, "i") if swap.of_other_unit}
    assert near and not near & own
    assert lexicon.swaps("no such unit", "i") == ()
