"""The self-test of a model: wrong adapters are stopped before they fill a table.

    result.py     what a check says, and which failures stop a run
    probe.py      a few items of the set, decoded once, and their scores by any family of models
    checks.py     steady scores, reactions to what is shown and said, whole captions, truth, pixels

`runner.self_test` makes all checks in order. They know the contract of `kinds.base` alone, so they hold for kinds of
other packages too.
"""
