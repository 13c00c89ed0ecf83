"""Values of libraries without types, or whose types are not followed (`pyproject.toml`): named by what they are."""

from typing import Any

Tensor = Any  # of torch, in files that import it only where it is used
Cache = Any  # of transformers: keys and values of what was read, in one of many classes
AvContainer = Any  # of PyAV: its own types are of all that a container may hold
AvStream = Any  # of PyAV
AvPacket = Any  # of PyAV
AvFrame = Any  # of PyAV
SpacyPipeline = Any  # of spaCy, its types not followed
Sense = Any  # a synset of NLTK's WordNet


# To the checker these have any attribute, but a tokenizer is no model.
class TorchModel(Any):  # types not followed
    """A torch module of transformers, peft or sentence-transformers."""


class Processor(Any):  # types not followed
    """A processor of transformers, or a part of one: it makes a model's inputs of videos, images and texts."""


class Tokenizer(Any):  # types not followed
    """A tokenizer of transformers."""
