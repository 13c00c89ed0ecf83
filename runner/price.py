"""The cost of a run at a paid endpoint: requests, tokens and price, foretold before it and counted after it."""

from collections.abc import Mapping

from video_contrast.runner.kinds.base import KindOptions, Work

CHARACTERS_A_TOKEN = 4.0  # of English text
PROMPT_TOKENS = 30  # the question around a caption, and the chat template
ANSWER_TOKENS = {"yesno": 2, "letter": 2, "loglik": 1}


def estimate(work: Work, options: KindOptions) -> dict[str, float]:
    """Requests, tokens and price of a run, before anything is asked; stored answers are not taken off."""
    scoring = options.get("scoring", "yesno")
    letter = scoring == "letter"
    turns = work.captions / max(1, work.items) if letter and options.get("rotations") == "rotate" else 1.0
    requests = work.items * turns if letter else float(work.captions + work.distractors)
    text = work.characters / CHARACTERS_A_TOKEN * (turns if letter else 1.0)
    frames = requests * work.frames * float(options.get("tokens_per_frame", 256))
    tokens_in = frames + requests * PROMPT_TOKENS + text
    tokens_out = requests * ANSWER_TOKENS.get(scoring, 0)
    counts = {"requests": round(requests), "prompt_tokens": round(tokens_in), "completion_tokens": round(tokens_out)}
    return counts | price_of(counts, options)


def embedder_estimate(work: Work, options: KindOptions) -> dict[str, float]:
    """Requests, tokens and price of a run: every view and every caption once."""
    requests = work.clips + work.texts
    frames = work.clips * work.frames * float(options.get("tokens_per_frame", 256))
    tokens = frames + requests * PROMPT_TOKENS + work.text_characters / CHARACTERS_A_TOKEN
    counts = {"requests": requests, "prompt_tokens": round(tokens)}
    return counts | price_of(counts, options)


def price_of(counts: Mapping[str, float], options: KindOptions) -> dict[str, float]:
    """The price of tokens, in the currency of `--price-in` and `--price-out`; {} where neither is given."""
    price_in, price_out = float(options.get("price_in") or 0), float(options.get("price_out") or 0)
    if not price_in and not price_out:
        return {}
    paid = counts.get("prompt_tokens", 0) * price_in + counts.get("completion_tokens", 0) * price_out
    return {"price": round(paid / 1e6, 6)}
