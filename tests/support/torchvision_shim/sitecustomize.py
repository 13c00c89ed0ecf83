"""Lets the torchvision wheel of the package index work beside a CPU build of torch, in tests only.

That wheel is a CUDA build: importing it beside a CPU torch fails because two operator schemas are missing. Defining
them first is enough for the resizing and normalising that video processors do. Python imports `sitecustomize` at
start-up in every process that has this folder on PYTHONPATH, so subprocesses of the tests are covered too; torch
itself is only imported when torchvision is.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType


class _DefineOperatorsFirst(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "torchvision":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            import torch

            if torch.version.cuda is None:
                library = torch.library.Library("torchvision", "DEF")
                library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                library.define("qnms() -> ()")
                sys._torchvision_operators = library  # type: ignore[attr-defined]  # keeps the definitions alive
            run(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _DefineOperatorsFirst())
