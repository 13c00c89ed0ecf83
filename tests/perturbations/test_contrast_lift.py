"""The constraint on what captions of one video say together, behind generators and beside negatives of people."""

from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.assembly.may_be_true import with_lifts
from video_contrast.perturbations.contrast import object as objects
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.candidate import Candidate, fill
from video_contrast.perturbations.contrast.generate import load_counts


class Proposes:
    """A generator that proposes given words."""

    name, draw = "given", "best"

    def __init__(self, *words: str) -> None:
        self.words = words

    def propose(self, originals, randoms) -> list[list[Candidate]]:
        return [[fill(original, word) for word in self.words] for original in originals]


def accepted(caption, *words, module=verb, options=None):
    target = {} if module is verb else {"target": objects.OBJECT}
    pipeline = verb.Pipeline(Proposes(*words), ["lift"], options=options, **target)
    edits, counts = pipeline.run_many([caption], ["1"], n=9)
    return {edit.new: edit.scores.get("lift") for edit in edits[0]}, counts


def test_what_captions_say_together_is_rejected_and_counted_and_the_rest_keeps_its_score():
    kept, counts = accepted("a man is cooking in a kitchen", "eating", "swimming", "zorbing")
    assert set(kept) == {"swimming", "zorbing"} and kept["swimming"] < 0.8  # nothing is known of zorbing
    assert counts["candidates:rejected:lift"] == 1 and counts["candidates:accepted"] == 2


def test_speech_goes_with_more_and_opposites_exclude_each_other():
    caption = "a man is cooking in a kitchen"
    loose, strict = {"speech_lift": 9.0}, {"speech_lift": 0.01}
    assert "talking" in accepted(caption, "talking", options=loose)[0]
    assert accepted(caption, "talking", options=strict)[0] == {}
    kept, _ = accepted("a woman opens a door", "closes")
    assert kept["closes"] > 1  # one after the other


def test_things_are_judged_by_the_things_of_captions():
    kept, _ = accepted("a man slices an onion", "garlic", "guitar", module=objects)
    assert "garlic" not in " ".join(kept) and "guitar" in " ".join(kept)


def test_own_sibling_captions_are_added_to_the_counts():
    before, _ = accepted("a man is cooking in a kitchen", "swimming")
    own = {f"v{n}": ["a man is cooking", "he swims", "a man is swimming", "the man cooks", "a pool"] for n in range(80)}
    counts = load_counts(own)
    after, reasons = accepted("a man is cooking in a kitchen", "swimming", options={"caption_counts": counts})
    assert before and not after and reasons["candidates:rejected:lift"] == 1


def test_the_record_says_the_limits_and_what_was_counted():
    record = verb.Pipeline(Proposes("runs"), ["lift"]).record()["constraints"]["lift"]
    assert (record["below"], record["speech_below"]) == (0.8, 0.6) and record["counts"]


def test_negatives_of_people_are_kept_scored_and_told():
    pairs = [
        ("a man is singing on a stage", "a man is dancing on a stage", True),
        ("a man is cooking in a kitchen", "a man is swimming in a kitchen", False),
        ("a woman opens a door", "a woman closes a door", False),
        ("a man slices an onion", "a man slices a garlic", True),
        ("ein Mann singt", "ein Mann schwimmt", False),
        ("a man sings", "nobody", False),
    ]
    captions = [caption for caption, _, _ in pairs]
    edits = [difference(caption, text, "human") for caption, text, _ in pairs]
    scored, doubtful = with_lifts(captions, edits)
    assert doubtful == [expected for _, _, expected in pairs]
    assert [edit.text for edit in scored] == [text for _, text, _ in pairs]
    assert scored[0].scores["lift"] > 0.8 > scored[1].scores["lift"] and "lift" not in scored[5].scores
