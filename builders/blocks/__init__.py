"""Sets of corpora: built block by block, by `datatrove`, on one machine, Slurm or Ray.

executors.py    the options of such builds; runs numbered tasks, marks what is done, and says which failed
block_build.py    what a task does for a block, and how the set is put together from all of them
"""
