"""The losses of LLM-teacher: hand-computed values, numerical gradients, masks."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.teacher import contrast_loss, label_loss, logit_loss

SIMILAR = [[0.9, 0.5, 0.1], [0.2, 0.4, -0.3]]  # two clips: the caption, and two negatives
TEACHER = [[1.0, 0.8, 0.2], [1.0, 0.6, 0.5]]


def softmax(row: list[float], temperature: float) -> list[float]:
    weights = [math.exp(value / temperature) for value in row]
    return [weight / sum(weights) for weight in weights]


def test_label_loss_of_two_clips_by_hand() -> None:
    # exp(.9/.5) = 6.0496, exp(.5/.5) = 2.7183, exp(.1/.5) = 1.2214 -> -ln(6.0496 / 9.9893) = .50153
    # exp(.2/.5) = 1.4918, exp(.4/.5) = 2.2255, exp(-.3/.5) = .54881 -> -ln(1.4918 / 4.2662) = 1.05068
    found = label_loss(torch.tensor(SIMILAR), 0.5)
    assert found.item() == pytest.approx((0.50153 + 1.05068) / 2, abs=1e-4)


def test_logit_loss_of_two_clips_by_hand() -> None:
    expected = 0.0
    for model, teacher in zip(SIMILAR, TEACHER, strict=True):
        p, q = softmax(teacher, 0.25), softmax(model, 0.5)
        expected += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)) / 2
    found = logit_loss(torch.tensor(SIMILAR), torch.tensor(TEACHER), 0.5, 0.25)
    assert found.item() == pytest.approx(expected, abs=1e-6)
    assert 0.1 < found.item() < 0.3


def test_contrast_loss_is_the_mean_of_both_ways() -> None:
    square = torch.tensor([[0.9, 0.1], [0.3, 0.5]])
    rows = [-math.log(softmax([0.9, 0.1], 0.2)[0]), -math.log(softmax([0.3, 0.5], 0.2)[1])]
    columns = [-math.log(softmax([0.9, 0.3], 0.2)[0]), -math.log(softmax([0.1, 0.5], 0.2)[1])]
    assert contrast_loss(square, 0.2).item() == pytest.approx((sum(rows) + sum(columns)) / 4, abs=1e-6)
    equal = torch.ones(2, 2, dtype=torch.bool)
    assert contrast_loss(square, 0.2, equal).item() == 0.0


@pytest.mark.parametrize("name", ["label", "logit"])
def test_gradients_agree_with_differences(name: str) -> None:
    at = torch.tensor(SIMILAR)
    mask = torch.tensor([[True, True, True], [True, True, False]])

    def loss(values: torch.Tensor) -> torch.Tensor:
        if name == "label":
            return label_loss(values, 0.5, mask)
        return logit_loss(values, torch.tensor(TEACHER), 0.5, 0.25, mask)

    values = at.clone().requires_grad_()
    loss(values).backward()
    assert values.grad is not None
    for row in range(2):
        for column in range(3):
            step = torch.zeros_like(at)
            step[row, column] = 1e-2
            numeric = (loss(at + step) - loss(at - step)).item() / 2e-2
            assert values.grad[row, column].item() == pytest.approx(numeric, abs=1e-3)
    assert values.grad[1, 2].item() == 0.0


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=8), st.floats(0.02, 2))
@settings(max_examples=50, deadline=None)
def test_a_masked_negative_is_as_if_it_were_not_there(row: list[float], temperature: float) -> None:
    whole, shorter = torch.tensor([row]), torch.tensor([row[:-1]])
    mask = torch.ones(1, len(row), dtype=torch.bool)
    mask[0, -1] = False
    assert label_loss(whole, temperature, mask).item() == pytest.approx(
        label_loss(shorter, temperature).item(), abs=1e-5
    )
    masked = logit_loss(whole, whole.flip(1) * 0 + 0.5, temperature, 0.1, mask).item()
    assert masked == pytest.approx(logit_loss(shorter, shorter * 0 + 0.5, temperature, 0.1).item(), abs=1e-4)


def test_a_sharp_teacher_makes_soft_logits_into_labels() -> None:
    similar = torch.tensor(SIMILAR)
    assert logit_loss(similar, torch.tensor(TEACHER), 0.5, 0.002).item() == pytest.approx(
        label_loss(similar, 0.5).item(), abs=1e-5
    )


def test_no_gradient_flows_into_the_teacher() -> None:
    teacher = torch.tensor(TEACHER, requires_grad=True)
    similar = torch.tensor(SIMILAR, requires_grad=True)
    logit_loss(similar, teacher, 0.5, 0.5).backward()
    assert teacher.grad is None and similar.grad is not None


def test_a_clip_without_negatives_costs_nothing() -> None:
    mask = torch.tensor([[True, False, False]])
    assert label_loss(torch.tensor(SIMILAR[:1]), 0.1, mask).item() == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: label_loss(torch.zeros(2, 3), 0.0), "above 0"),
        (lambda: label_loss(torch.zeros(3), 1.0), r"\[clips, 1 \+ negatives\]"),
        (lambda: label_loss(torch.zeros(1, 2), 1.0, torch.tensor([[False, True]])), "never be masked"),
        (lambda: label_loss(torch.zeros(1, 2), 1.0, torch.tensor([[True]])), "mask .* does not fit"),
        (lambda: logit_loss(torch.zeros(1, 2), torch.zeros(1, 3), 1.0, 1.0), "teacher .* does not fit"),
        (lambda: contrast_loss(torch.zeros(2, 3), 1.0), "square"),
    ],
)
def test_what_does_not_fit_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
