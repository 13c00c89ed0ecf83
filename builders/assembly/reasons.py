"""Why clips and captions fell out of a build: the counts of a set's record in words."""

from video_contrast.console import counted
from video_contrast.storage.set_records import Facts

# Keys of the counts of captions, in words that follow a number.
REASONS = {
    "edited": "gave a contrast",
    "no_probable_contrast": "gave none that is probable enough",
    "empty": "were empty",
    "no_gender_noun": "have no gendered noun",
    "people_become_alike": "would name two people alike",
    "one_person_and_the_other": "name one person and the other",
    "person_named_twice": "name the person twice",
    "partner_of_the_person": "name the person's partner",
    "clothing_or_body_of_one_gender": "name clothing or a body of one gender",
    "role_of_one_gender": "name a role of one gender",
    "name_of_a_role": "name a role like Spider-Man",
    "no_id": "name no character",
    "unknown_gender": "name a character whose gender is not in the cast",
    "no_other_character": "name a character without another of that gender in the movie",
    "no_human_negative": "have no negative in the table",
    "says_what_a_caption_says": "got a contrast that another caption of the clip says",
    "too_few_different_contrasts": "got too few contrasts that differ from each other",
}
MOST = 4  # reasons that are shown where a generator has many
# Keys of the counts of clips (of rows, of blocks) that fell out.
LEFT_OUT = {
    "too_few_other_videos": "clips lack other videos to take captions from (an item takes four with other texts)",
    "negative_equals_truth": "clips have a negative that says what the true caption says",
    "empty_captions": "rows lack a caption",
    "repeated_pairs": "pairs stood twice in the table and were taken once",
    "may_be_true": "negatives may be true of the clip as well",
    "not_in_zip": "videos are not in the zip",
    "repeated_negatives": "negatives stood twice for their clip and were taken once",
    # Of edited clips.
    "too_short": "clips are too short",
    "no_other_clip_to_join": "clips have no other clip to be joined with",
    "no_partner_of_its_size": "clips have no partner with pictures of the same size",
    "video_could_not_be_read": "clips cannot be read",
    "stands_still": "clips stand still",
    "looks_the_same_backwards": "clips look the same backwards",
    "captions_say_the_same": "clips have a caption of another clip",
    "captions_may_both_be_true": "clips have captions that may be true of others",
    "captions_of_several_sentences": "clips have only captions of several sentences",
    "another_caption_says_the_opposite": "clips have a caption that says the opposite of another",
    "says_when_it_happens": "clips have only captions that say when",
    "captions_that_are_no_sentence": "clips have captions that are no sentence",
    "captions_of_other_patterns": "clips have captions of another pattern than their partners'",
    "clips_that_look_alike": "clips look like the ones they would be joined with",
    "says_how_often": "clips have only captions that say how often",
    "says_how_fast": "clips have only captions that say how fast",
    "says_where_it_goes": "clips have captions that say where it goes",
    "no_direction_verb": "clips have no verb of direction",
    "more_than_one_action": "clips have captions of several actions",
    "verb_may_mean_something_else": "clips have a verb that may mean something else",
    "no_side": "clips have no caption that names a side",
    "side_that_is_not_understood": "clips have a side that is not understood",
    "names_both_sides_alike": "clips have captions that name both sides alike",
}
# Of the first two words of these texts, those that are others after "1".
_SINGULAR = {
    "have": "has", "lack": "lacks", "name": "names", "were": "was", "clips": "clip", "rows": "row", "pairs": "pair",
    "negatives": "negative", "videos": "video", "are": "is", "stand": "stands", "look": "looks",
}  # fmt: skip


def counts_in_words(counts: Facts) -> str:
    """The counts of one split as a text without a full stop; "" where there is nothing to tell.

    >>> counts_in_words({"built": 3, "clips": 3, "covered": 2, "captions_tried": {"edited": 2, "no_id": 5}})
    'of 3 clips 2 have a contrast; of 7 captions tried 2 gave a contrast, 5 name no character'
    >>> counts_in_words({"built": 3, "too_few_other_videos": 1})
    '1 clip lacks other videos to take captions from (an item takes four with other texts)'
    """
    parts = []
    if counts.get("clips"):
        parts.append(f"of {counted(counts['clips'], 'clip')} {_agreeing(counts['covered'], 'have a contrast')}")
    tried = {reason: n for reason, n in counts.get("captions_tried", {}).items() if n}
    if tried:
        reasons = ", ".join(_agreeing(n, REASONS.get(reason, reason.replace("_", " "))) for reason, n in tried.items())
        # What the generator contrasted but another caption says was counted as contrasted, too.
        repeated = sum(tried.get(reason, 0) for reason in ("says_what_a_caption_says", "too_few_different_contrasts"))
        parts.append(f"of {counted(sum(tried.values()) - repeated, 'caption')} tried {reasons}")
    words = {reason: n for reason, n in counts.get("candidates", {}).items() if reason not in LEFT_OUT}
    if words:  # of verbs and things
        common = sorted(words.items(), key=lambda pair: -pair[1])[:MOST]
        parts.append("words that were not replaced: " + ", ".join(f"{reason} ({n:,})" for reason, n in common))
    parts += [
        _agreeing(n, LEFT_OUT.get(reason, "clips left out: " + reason.replace("_", " ")))
        for reason, n in counts.items()
        if isinstance(n, int) and n and reason not in ("built", "clips", "covered", "not_covered", "rows")
    ]
    return "; ".join(parts)


def _agreeing(count: int, words: str) -> str:
    """A number before words in the plural, which are put into the singular for one: "1 clip has ..."."""
    if count == 1:
        first, second, *others = words.split(" ", 2)
        words = " ".join([_SINGULAR.get(first, first), _SINGULAR.get(second, second), *others])
    return f"{count:,} {words}"
