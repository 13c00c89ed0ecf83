"""Every example in a docstring runs and prints what it says."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import video_contrast

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(video_contrast.__path__, "video_contrast.")
    if not module.name.endswith("__main__")
)


def _rooms() -> list[str]:
    names = set(MODULES)
    for room in ("audit", "builders", "hub_cards", "metrics", "perturbations", "reports", "runner", "teacher"):
        package = import_module(f"video_contrast.{room}")
        names.add(package.__name__)
        names.update(m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + "."))
    return sorted(names)


@pytest.mark.parametrize("name", _rooms())
def test_docstring_examples(name: str) -> None:
    module = import_module(name)
    if ">>>" in inspect.getsource(module):  # looking for examples takes longer than running them
        assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
