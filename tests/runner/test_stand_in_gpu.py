"""The stand-in for a GPU refuses what CUDA refuses: else what passes on it would say nothing."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from stand_in_gpu import Gpus, stand_in_gpu

MIXED = "Expected all tensors to be on the same device"


@pytest.fixture(autouse=True)
def gpus() -> Iterator[Gpus]:
    with stand_in_gpu(2) as found:
        yield found


def on_gpu(device: str = "cuda") -> torch.Tensor:
    return torch.ones(3, 3, device=device)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: on_gpu() @ torch.ones(3, 3), MIXED),
        (lambda: on_gpu() + on_gpu("cuda:1"), MIXED),
        (lambda: torch.cat([on_gpu(), torch.ones(3, 3)]), MIXED),
        (lambda: torch.nn.functional.embedding(torch.tensor([0]), on_gpu()), MIXED),
        (lambda: on_gpu().gather(0, torch.zeros(1, 3, dtype=torch.long)), MIXED),
        (lambda: torch.nn.Linear(3, 3).to("cuda")(torch.ones(3)), MIXED),
        (lambda: torch.ones(3)[torch.tensor([0], device="cuda")], "indices should be either on cpu"),
        (lambda: on_gpu().numpy(), "can't convert cuda:0 device type tensor to numpy"),
        (lambda: np.asarray(on_gpu()), "can't convert cuda:0"),
        (lambda: torch.rand(3, device="cuda", generator=torch.Generator()), "'cuda' device type for generator"),
        (lambda: on_gpu().pin_memory(), "cannot pin"),
        (lambda: on_gpu("cuda:2"), "invalid device ordinal"),
    ],
)
def test_mistakes_raise_what_cuda_raises(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises((RuntimeError, TypeError), match=message):
        mistake()


def test_what_a_gpu_does_passes() -> None:
    numbers = on_gpu()
    assert numbers.device == torch.device("cuda:0") and numbers.is_cuda
    assert (numbers * torch.tensor(2.0)).sum().item() == 18
    assert numbers[torch.tensor([0, 2])].tolist() == [[1, 1, 1]] * 2
    assert numbers.cpu().numpy().sum() == 9
    layer = torch.nn.Linear(3, 2).to("cuda")
    layer(numbers)[torch.tensor([0])].sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.device.type == "cuda"
    with torch.autocast("cuda", torch.bfloat16):
        assert layer(numbers).dtype == torch.bfloat16
    from accelerate import Accelerator

    assert Accelerator().device.type == "cuda"


def test_a_copy_that_is_not_waited_for_is_not_there_yet() -> None:
    copy = on_gpu().to("cpu", non_blocking=True)
    assert not np.array_equal(copy.numpy(), np.ones((3, 3)))
    torch.cuda.synchronize()
    np.testing.assert_array_equal(copy.numpy(), np.ones((3, 3)))


def test_pinned_memory_that_is_written_too_early_is_noticed() -> None:
    pinned = torch.ones(3).pin_memory()
    pinned.to("cuda", non_blocking=True)
    pinned.zero_()
    with pytest.raises(AssertionError, match="pinned memory was written"):
        torch.cuda.synchronize()
    again = torch.ones(3).pin_memory()
    again.to("cuda", non_blocking=True)
    torch.cuda.synchronize()
    again.zero_()


def test_a_tensor_larger_than_the_memory_is_refused(gpus: Gpus) -> None:
    gpus.most = 8
    with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
        on_gpu()
