"""Values of libraries that have no types, or whose types are not followed (`pyproject.toml`): named by what they are.

To the checker each has any attribute, and none is another: a tokenizer is no model.
"""

from typing import Any


class Model(Any):
    """A torch module of transformers, peft or sentence-transformers."""


class Processor(Any):
    """What turns videos, images and texts into a model's inputs, of transformers; also one of its parts."""


class Tokenizer(Any):
    """A tokenizer of transformers."""


class Tensor(Any):
    """A tensor of torch, in files that import torch only where it is used."""


class AvContainer(Any):
    """An open file of PyAV. Its own types are of all that a container may hold."""


class AvStream(Any):
    """A video stream of PyAV."""
