"""What the names inside `edits.scores` mean, for the card of a set."""

import json
from pathlib import Path

import pyarrow.parquet as pq

EDIT_SCORES = {
    "score": "the weighted sum of the others, by which generator `frames` chooses",
    # of constraints
    "frequency": "how common the rarest new word is (Zipf scale)",
    "lift": "how often captions of one video say old and new word together, against chance (logarithm; generator "
    "`frames`: negated, so the higher the rarer)",
    "nli": "the highest probability that another caption of the clip entails the candidate",
    "perplexity": "of the candidate under the language model, against that of the caption",
    "sentence": "cosine between caption and candidate by the sentence encoder",
    "word_vectors": "the highest cosine between the new word and a word of the clip's captions",
    # of the generator `frames`: logarithms of counts of captions, the higher the better
    "adjectives": "minus the number of adjectives of the replaced noun",
    "agent": "1 where the replaced noun is who acts",
    "antonym": "1 for opposites",
    "antonym_lift": "`lift` of opposites, where it is below 0",
    "bare": "1 where the verb has no noun",
    "company": "the least `lift` (not negated) of the new word with the caption's other words of its kind",
    "exclusive": "1 where two verbs exclude each other by a list",
    "fluency": "how probable the words around the change became, a word",
    "fluency_mean": "how much the sentence's mean word probability changed",
    "fluency_sum": "`fluency`, not divided by the number of words",
    "goes": "how often the new noun goes with the caption's verbs",
    "hidden": "how seldom the new word is left unsaid where it is true",
    "lead": "how probable the new noun is after the words before it, against chance",
    "others": "minus the number of other verbs (or nouns) of the caption",
    "own_hidden": "`hidden` of the old word",
    "pairs_mean": "how much the mean probability of word pairs changed",
    "place": "1 where the replaced noun is a place",
    "plain": "the mean word probability of the caption",
    "pmi": "how much more often the new word goes with its noun (or verb) than by chance",
    "preposition": "how often the new noun follows the preposition",
    "rare": "-1 where the new verb was never seen with the noun",
    "run": "1 where the words before the new noun were seen with it",
    "said": "the share of the clip's captions that say the old word",
    "same_class": "1 where both nouns are of one class",
    "same_noun": "minus how often both verbs are said of one noun in one video",
    "seen": "how often the new word was seen with its noun (or verb)",
    "share": "the share of the noun's captions with the new verb",
    "siblings": "minus the mean `lift` of the new word with what the clip's other captions say",
    "speech": "minus the number of verbs of speaking among the two",
    "step": "1 where the caption is a step of an instruction",
    "step_company": "`company` between steps of one video",
    "step_lift": "`lift` between steps of one video",
    "subject": "how often who acts does what the new verb says",
    "sure": "1 (opposites: 0.5) where the action lexicon says that old and new exclude each other",
    "tails": "minus the number of phrases that follow the action",
    "words": "the number of words of the caption",
    "words_mean": "how much the mean frequency of the words changed",
}


def score_names(files: list[Path]) -> list[str]:
    """The names that the edits of some tables have, sorted.

    Args:
        files: parquet files; those without the column `edits` have none.
    """
    names: set[str] = set()
    for path in files:
        if "edits" in pq.read_schema(path).names:
            edits = (edit for row in pq.read_table(path, columns=["edits"])["edits"].to_pylist() for edit in row or ())
            names.update(name for edit in edits if edit and edit["scores"] for name in json.loads(edit["scores"]))
    return sorted(names)
