"""How a multiple-choice set is put together.

captioned_clip.py    a clip with its captions: what builders of real sets read their sources into
contrast_plan.py, configs.py    the options that builders share, the plan that they make, and the configs by that plan
clip_contrasts.py    which of a clip's captions is contrasted
difference.py    what was changed in it, and whether it may be true all the same
word_contrasts.py    contrasts of verbs and things, proposed by the lexicon or by a model
multiple_choice.py    random distractors, and the candidates at seeded places
reasons.py    why clips fell out, in words
sharding.py    work dealt out to processes
"""
