"""The audit of a set: the answers that it gives away without its videos, and its other faults; needs rows only.

xray.py, records.py    all of it in one record, key by key, also of a set on disk, and its short form for a card
blind_models.py    models that never see a video
blind_audit.py    what they win, alone and in groups of pairs; refined_cut.py    the items that they do not win
nearest_contrast.py    which candidate counts as the contrast, where a set does not say
item_checks.py    places of the key, copies, leaks, texts too long
model_answers.py    what models' answers say of a set; exchangeability.py    does a language model know it?
repair.py, new_distractors.py, distractor_choice.py    new distractors for what is won blind
check.py    are the tables valid, and the videos there and readable?
"""
