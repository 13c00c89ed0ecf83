"""The self-test of a model: wrong adapters are stopped before they fill a table.

    result.py     what a check says, and which failures stop a run
    probe.py      a few items of the set, decoded once, and their scores by any family of models
    reacting.py   scores react to another clip, grey frames, the inside of frames, order, times, a caption, every frame
    steady.py     scores do not change with batch, order, candidates, padding, position, repetition, process
    captions.py   ends of captions, cut captions, upper case, scripts
    truth.py      true captions beat those of other clips
    examine.py    all checks in order; what the family's recipe says, and what a run costs

Checks know the contract of `kinds.base` alone, so they hold for kinds of other packages too.
"""
