"""Training captions and helpers of the tests of verb contrasts."""

from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.candidate import Candidate, fill
from video_contrast.perturbations.english import parse_one
from video_contrast.perturbations.english.forms import inflect

RULES = ["has_verb", "lemma", "frequency", "inflection"]


VERBS = ("sing", "walk", "run", "jump", "sit", "stand", "look", "dance", "lower", "raise", "drop", "clean")


# The LM-made rows of the paper's Table 1: caption, contrast, the verb phrase that was replaced, whether antonyms.
TABLE_1_VERB = [
    ("Two men are doing wrestling.", "Two men are dancing.", False),
    (
        "A man in black shirt is talking with his two friends.",
        "A man in black shirt is running with his two friends.",
        False,
    ),
    ("His gaze steely, Jenko lowers his gun.", "His gaze steely, Jenko raises his gun.", True),
    ("Jenko and Schmidt sit in the rear pew.", "Jenko and Schmidt stand in the rear pew.", True),
]


CAPTIONS = [
    "a woman is talking on a stage",
    "two men are sitting near the door",
    "a boy lowers his gun",
    "the cat sings",
]


IDS = ["a", "b", "c", "d"]


def tokens_of(caption):
    return parse_one(caption).words


class Listed:
    """A generator that proposes verbs of a list, in the form of what they replace."""

    name, draw = "listed", "uniform"

    def __init__(self, *verbs):
        self.verbs = verbs or VERBS

    def propose(self, originals, randoms):
        return [[fill(original, inflect(verb, original.phrase.tag)) for verb in self.verbs] for original in originals]


class Given:
    """A generator that proposes given contrasts."""

    name, draw = "given", "first"

    def __init__(self, contrasts):
        self.contrasts = contrasts

    def propose(self, originals, randoms):
        made = []
        for original in originals:
            caption, new = original.caption, []
            for text in self.contrasts:
                start = next(n for n, (a, b) in enumerate(zip(caption, text, strict=False)) if a != b)
                start = caption.rfind(" ", 0, start) + 1
                tail = len(caption) - original.phrase.end
                new.append(Candidate(text, text[start : len(text) - tail], start))
            made.append(new)
        return made


def contrasts_of(constraints=RULES, captions=CAPTIONS, ids=IDS, **others):
    arguments = {"generator": Listed(), "constraints": constraints} | others
    return verb.contrasts(captions, ids, **arguments)


def check(caption, contrasts, constraints, siblings=None, **settings):
    edits, reasons = verb.contrasts(
        [caption], ["1"], generator=Given(contrasts), constraints=constraints,
        siblings=siblings, **settings,
    )  # fmt: skip
    rejected = {name.rpartition(":")[2]: n for name, n in reasons.items() if ":rejected:" in name and n}
    return (edits[0].new if edits[0] else None), rejected
