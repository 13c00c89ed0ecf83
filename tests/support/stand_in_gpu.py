"""A stand-in for CUDA devices, whose tensors compute on the CPU and refuse what a GPU would refuse.

    with stand_in_gpu(count=2) as gpus: ...   # torch.cuda.is_available(), .to("cuda"), accelerate's device is "cuda"

It checks what CUDA checks, in CUDA's words: tensors of two devices do not meet (a single number of the CPU may stand
beside tensors of a GPU, and places of the CPU may index them); numpy reads no GPU; a generator is of the device that it
draws on; what was copied without waiting is not there before `synchronize`, and pinned memory stays as it is until
then. `gpus.most` bounds the numbers of a tensor: beyond it there is "CUDA out of memory". Kernels, speed and memory are
the CPU's, so it says nothing of them.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import torch
from gpu_tensor import Gpus, GpuTensor, gpus, moved
from torch.utils import _device
from torch.utils._pytree import tree_map

MADE = (
    "empty.memory_format", "empty_strided", "arange", "arange.start", "arange.start_step", "eye", "eye.m", "linspace",
    "randperm", "randperm.generator", "tril_indices", "triu_indices",
)  # fmt: skip
_empty, _library = torch.empty, torch.library.Library("aten", "IMPL", "CUDA")


def _numbered(function: Any) -> Any:
    """A function of torch that is told the number of its GPU: it would ask CUDA for it."""

    def call(*args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        args = tree_map(lambda value: value.item() if isinstance(value, GpuTensor) and not value.ndim else value, args)
        return function(*args, device=None if device is None else gpus.device(device), **kwargs)

    return call


def _made(operation: str) -> None:
    """Lets torch make tensors on a GPU: the stand-in's, by the CPU's function."""
    name, _, overload = operation.partition(".")
    function = getattr(getattr(torch.ops.aten, name), overload or "default")

    def make(*args: Any, device: Any = None, pin_memory: Any = None, layout: Any = None, **kwargs: Any) -> GpuTensor:
        return GpuTensor(function(*args, device="cpu", **kwargs), gpus.device(device or "cuda"))

    _library.impl(operation, make)


for _operation in () if torch.backends.cuda.is_built() else MADE:
    _made(_operation)


@contextlib.contextmanager
def stand_in_gpu(count: int = 1) -> Iterator[Gpus]:
    """As if the machine had `count` GPUs, for torch, accelerate and transformers; a CUDA build of torch is let be."""
    if torch.backends.cuda.is_built():
        pytest.skip("the stand-in for a GPU needs a CPU build of torch")
    from accelerate.state import AcceleratorState, GradientState, PartialState

    _device._device_constructors()  # remembers torch's own functions, before some are replaced
    gpus.__init__(count)  # type: ignore[misc]  # one object, which the tensors know
    memory = 1 << 37
    facts = SimpleNamespace(name="stand-in", major=9, minor=0, total_memory=memory, multi_processor_count=1)
    state = lambda *_: gpus.generator.get_state()  # noqa: E731
    seed = gpus.generator.manual_seed
    replaced = {
        "is_available": lambda: True, "is_initialized": lambda: True, "_lazy_init": lambda: None,
        "device_count": lambda: gpus.count, "current_device": lambda: gpus.current,
        "set_device": lambda device: setattr(gpus, "current", gpus.number(device)), "synchronize": gpus.wait,
        "is_bf16_supported": lambda *_, **__: True, "get_device_capability": lambda *_: (9, 0),
        "get_device_name": lambda *_: "stand-in", "get_device_properties": lambda *_: facts,
        "mem_get_info": lambda *_: (memory, memory), "memory_stats": lambda *_: {}, "memory_allocated": lambda *_: 0,
        "memory_reserved": lambda *_: 0, "max_memory_allocated": lambda *_: 1 << 20, "empty_cache": lambda: None,
        "reset_peak_memory_stats": lambda *_: None, "ipc_collect": lambda: None, "manual_seed": seed,
        "manual_seed_all": seed, "get_rng_state": state, "get_rng_state_all": lambda: [state()] * gpus.count,
        "set_rng_state": lambda given, *_: gpus.generator.set_state(given),
        "set_rng_state_all": lambda given: gpus.generator.set_state(given[0]),
    }  # fmt: skip

    def empty(*args: Any, pin_memory: bool = False, **kwargs: Any) -> torch.Tensor:
        made = _empty(*args, **kwargs)
        return gpus.pin(made) if pin_memory else made

    def forget() -> None:
        for shared in (PartialState, AcceleratorState, GradientState):
            shared._reset_state()

    # torch enters a device before it makes a tensor there; one that does nothing, the CPU's, stands for the GPU's.
    library = ctypes.CDLL(str(next((Path(torch.__file__).parent / "lib").glob("libc10.*"))))
    guards = (ctypes.c_void_p * 2).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    guards[1] = guards[0]
    before = torch.__future__.get_swap_module_params_on_conversion()
    with contextlib.ExitStack() as stack:
        put = stack.enter_context
        for name, value in replaced.items():
            put(mock.patch.object(torch.cuda, name, value))
            if hasattr(torch.cuda.random, name):
                put(mock.patch.object(torch.cuda.random, name, value))
        for name, value in {"is_available": lambda: True, "device_count": lambda: gpus.count,
                            "current_stream": lambda *_: SimpleNamespace(is_capturing=lambda: False),
                            "current_accelerator": lambda *_, **__: torch.device("cuda")}.items():  # fmt: skip
            put(mock.patch.object(torch.accelerator, name, value))
        put(mock.patch.object(torch.Tensor, "pin_memory", lambda self, *_: gpus.pin(self)))
        put(mock.patch.object(torch.Tensor, "is_pinned", lambda self, *_: gpus.is_pinned(self)))
        put(mock.patch.object(torch.Tensor, "to", moved))
        put(mock.patch.object(torch.Tensor, "cpu", lambda self, *_, **__: moved(self, "cpu")))
        put(mock.patch.object(torch.Tensor, "cuda", lambda self, device="cuda", **more: moved(self, device, **more)))
        put(mock.patch.object(torch, "empty", empty))
        begin = torch.autocast.__init__
        put(mock.patch.object(torch.autocast, "__init__", lambda self, device_type, *args, **kwargs: begin(
            self, device_type.replace("cuda", "cpu"), *args, **kwargs)))  # fmt: skip
        for function in (torch.tensor, torch.as_tensor):
            put(mock.patch.object(torch, function.__name__, _numbered(function)))
        torch.__future__.set_swap_module_params_on_conversion(True)
        forget()
        try:
            yield gpus
            gpus.wait()
        finally:
            guards[1] = None
            torch.__future__.set_swap_module_params_on_conversion(before)
            forget()
