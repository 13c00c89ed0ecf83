"""The self-test of a model: wrong adapters are stopped before they fill a table.

`runner.self_test` makes all checks in order. They know the contract of `kinds.base` alone, so they hold for kinds of
other packages too.
"""
