"""How a multiple-choice set is put together.

captioned_clip.py    a clip with its captions: what builders of real sets read their sources into; which is contrasted
configs.py    the options that builders share, the plan that they make, and the configs by that plan
word_contrasts.py    contrasts of verbs and things, proposed by the lexicon or by a model; of kinds, by rules
multiple_choice.py    random distractors, and the candidates at seeded places
review.py    contrasts that a person ticks, and votes
reasons.py    why clips fell out, in words
"""
