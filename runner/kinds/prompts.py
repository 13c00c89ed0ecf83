"""What a generative model is asked, and the surface forms under which its answer counts."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Sequence
from typing import Any

YESNO = 'Does this video show: "{caption}"? Answer Yes or No.'
DESCRIBE = "Describe what happens in this video in one sentence."
LETTER = "Which of these sentences describes the video?\n{options}\nAnswer with the letter of the one that fits."
YES = ("Yes", " Yes", "yes", " yes", "YES", " YES")
NO = ("No", " No", "no", " no", "NO", " NO")
LETTERS = string.ascii_uppercase


def letter_question(captions: Sequence[str]) -> str:
    """The multiple-choice question over `captions` in the given order (at most 26)."""
    return LETTER.format(options="\n".join(f"{LETTERS[i]}. {caption}" for i, caption in enumerate(captions)))


def single_tokens(tokenizer: Any, forms: Sequence[str]) -> list[int]:
    """Ids of the forms that are one token, each once, in order of the ids."""
    ids = [tokenizer.encode(form, add_special_tokens=False) for form in forms]
    return sorted({one[0] for one in ids if len(one) == 1})


def prompt_hash(prompt: str) -> str:
    """The first 16 hexadecimal digits of the sha256 of a rendered prompt, for the record."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()[:16]


def latin_rotation(position: int, k: int, seed: int) -> int:
    """By how many places the options of item number `position` are rotated.

    Every k consecutive items get each rotation once (a balanced Latin square), in an order drawn from the seed.
    """
    from video_contrast.seeds import stream

    order = stream(seed, "latin", k, position // k).permutation(k)
    return int(order[position % k])
