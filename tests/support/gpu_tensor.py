"""Tensors that claim to be on a GPU, compute on the CPU, and refuse what CUDA refuses (`stand_in_gpu`)."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
INDEXED = ("index", "index_put", "_index_put_impl", "_unsafe_index")
# Whose places are never of the CPU, not even a single one.
PLACES = ("gather", "scatter", "index_select", "embedding", "scatter_add", "index_add", "index_copy")
# Functions that torch takes apart in C++, where it looks at the memory and not at what a tensor claims.
WHOLE = ("one_hot", "repeat_interleave", "cartesian_prod", "cdist")


class Gpus:
    """The devices that are there, and the copies that are under way."""

    def __init__(self, count: int) -> None:
        self.count, self.current, self.most = count, 0, 1 << 40
        self.generator = torch.Generator()
        self.pinned: dict[int, object] = {}  # address -> the storage, kept so that nothing else comes to lie there
        self.arriving: list[tuple[torch.Tensor, torch.Tensor]] = []  # a tensor of the CPU, and what will stand in it
        self.leaving: list[tuple[torch.Tensor, torch.Tensor]] = []  # a pinned tensor, and what stood in it
        self.used: set[str] = set()  # the devices on which something was computed

    def device(self, name: object) -> torch.device:
        """A device with its number; raises where there is no such GPU."""
        device = torch.device(name)  # type: ignore[arg-type]
        if device.type == "cuda" and (device.index or 0) >= self.count:
            raise torch.AcceleratorError("CUDA error: invalid device ordinal")
        return torch.device("cuda", self.current) if device.type == "cuda" and device.index is None else device

    def number(self, device: object = None) -> int:
        """The number of a device, of the current one where none is named."""
        return self.current if device is None else device if isinstance(device, int) else self.device(device).index

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage().data_ptr() in self.pinned

    def pin(self, tensor: torch.Tensor, *_: object) -> torch.Tensor:
        if isinstance(tensor, GpuTensor):
            raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")
        copy = tensor if self.is_pinned(tensor) else tensor.clone()
        self.pinned[copy.untyped_storage().data_ptr()] = copy.untyped_storage()
        return copy

    def wait(self, *_: object) -> None:
        """What `synchronize` does, and every copy to the CPU that is waited for."""
        arriving, leaving, self.arriving, self.leaving = self.arriving, self.leaving, [], []
        for there, values in arriving:
            there.copy_(values)
        for pinned, before in leaving:
            if not torch.equal(pinned, before):
                raise AssertionError("pinned memory was written while it was being copied to a GPU")


gpus = Gpus(0)


class GpuTensor(torch.Tensor):
    """Claims to be on a GPU; `values_` holds its numbers."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor, device: torch.device) -> GpuTensor:
        if inner.numel() > gpus.most:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {inner.nbytes} bytes.")
        made = torch.Tensor._make_subclass(cls, inner)
        made.values_, made.claimed = inner.detach(), device
        gpus.used.add(str(device))
        return made

    device = property(lambda self: self.claimed)
    is_cuda = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def get_device(self) -> int:
        return self.claimed.index

    def _set_data(self, other: GpuTensor) -> None:
        torch.Tensor.data.__set__(self, other)
        self.values_, self.claimed = other.values_, other.claimed

    data = property(lambda self: self.detach(), _set_data)

    def __reduce_ex__(self, protocol: int) -> tuple[Any, ...]:
        return self.values_.__reduce_ex__(protocol)  # a file holds numbers, of no GPU

    def __deepcopy__(self, memo: dict[int, object]) -> torch.Tensor:
        copy = GpuTensor(self.values_.clone(), self.claimed).requires_grad_(self.requires_grad)
        return torch.nn.Parameter(copy, self.requires_grad) if isinstance(self, torch.nn.Parameter) else copy

    def __repr__(self) -> str:
        return f"{self.values_!r} on {self.claimed}"

    @classmethod
    def __torch_function__(cls, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        with torch._C.DisableTorchFunctionSubclass():
            if name in ("numpy", "__array__"):
                raise TypeError(f"can't convert {args[0].device} device type tensor to numpy. Use Tensor.cpu() ...")
            if name == "tolist":
                return moved(args[0], "cpu").tolist()
            if name == "backward":
                with _Backward(args[0].claimed):
                    return func(*args, **kwargs)
            if name in WHOLE:
                return _run(func, args, kwargs)
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Backward(TorchDispatchMode):
    """Gradients are on the GPU, those too that torch begins as zeros beside the memory of a tensor."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.claimed = device

    def __torch_dispatch__(self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        return func(*args, **(kwargs | ({"device": self.claimed} if kwargs.get("device") else {})))


def moved(tensor: torch.Tensor, *args: Any, copy: bool = False, **kwargs: Any) -> torch.Tensor:
    """`Tensor.to`."""
    if args and isinstance(args[0], torch.Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    device, dtype, non_blocking, layout = torch._C._nn._parse_to(*args, **kwargs)
    device, dtype = gpus.device(device or tensor.device), dtype or tensor.dtype
    if (device, dtype) == (tensor.device, tensor.dtype) and not copy:
        return tensor
    more = {} if layout is None else {"memory_format": layout}
    return aten._to_copy(tensor, dtype=dtype, device=device, non_blocking=non_blocking, **more)


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """An operation, if a GPU would do it."""
    name = func.__name__.partition(".")[0].rstrip("_")
    leaves = tree_leaves((args, kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    device = next(tensor.claimed for tensor in tensors if isinstance(tensor, GpuTensor))
    if name == "copy":
        return _copied(*args, **kwargs)
    if name == "_local_scalar_dense":
        gpus.wait()
    _check(name, args, tensors)
    if any(isinstance(leaf, torch.Generator) for leaf in leaves):  # here there are none but those of the CPU
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    target = gpus.device(kwargs.get("device") or device)
    plain = tree_map(_inner, kwargs) | ({"device": "cpu"} if kwargs.get("device") else {})
    if " generator=" in str(getattr(func, "_schema", "")):
        plain["generator"] = gpus.generator
    out = func(*tree_map(_inner, args), **plain)
    if target.type == "cpu":
        return _received(out, kwargs.get("non_blocking", False)) if name == "_to_copy" else out
    same = {id(tensor.values_): tensor for tensor in tensors if isinstance(tensor, GpuTensor)}

    def claimed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        wrapper = same[id(value)] if id(value) in same else GpuTensor(value, target)
        assert wrapper.shape == value.shape, f"the stand-in knows no {name} in place"
        return wrapper

    return tree_map(claimed, out)


def _inner(value: Any) -> Any:
    return value.values_ if isinstance(value, GpuTensor) else value


def _check(name: str, args: Any, tensors: list[torch.Tensor]) -> None:
    """Raises where tensors of two devices meet."""
    if name in INDEXED:
        if not isinstance(args[0], GpuTensor):
            raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
        places = [id(place) for place in args[1] if place is not None and not isinstance(place, GpuTensor)]
        tensors = [tensor for tensor in tensors if id(tensor) not in places]
    few = {} if name in PLACES else {id(t) for t in tensors if not t.ndim and not isinstance(t, GpuTensor)}
    found = sorted({str(tensor.device) for tensor in tensors if id(tensor) not in few})
    if len(found) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{found[1]} and {found[0]}! (when checking arguments of {name})"
        )


def _copied(there: torch.Tensor, tensor: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """`Tensor.copy_`, to a GPU or from one."""
    if isinstance(there, GpuTensor):
        if non_blocking and not isinstance(tensor, GpuTensor) and gpus.is_pinned(tensor):
            gpus.leaving.append((tensor, tensor.clone()))
        there.values_.copy_(_inner(tensor))
    elif non_blocking and gpus.is_pinned(there):
        gpus.arriving.append((there, _inner(tensor).to(there.dtype, copy=True)))
    else:
        gpus.wait()
        there.copy_(_inner(tensor))
    return there


def _received(values: torch.Tensor, non_blocking: bool) -> torch.Tensor:
    """A copy on the CPU: rubbish until it is waited for."""
    if non_blocking:
        gpus.arriving.append((torch.full_like(values, 77), values))
        return gpus.arriving[-1][0]
    gpus.wait()
    return values
