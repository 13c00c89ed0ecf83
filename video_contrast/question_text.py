"""How candidates are asked about. Exports to other tools carry this file as it is.

It needs the standard library only.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Question:
    """What the candidates of an item answer, and how its authors ask it."""

    text: str  # the question
    # what a model is asked, word for word as published, with `{question}` and `{options}` (or `{options_dict}`,
    # as Python writes letters and texts) where they belong, and `{frames}` for their number.
    prompt: str = "{question}\n{options}\nAnswer with the letter of the one that fits."
    option: str = "{letter}. {text}"  # a line of the options, with `{letter}` (or `{number}`) and `{text}`

    def prompt_for(self, candidates: Sequence[str]) -> str:
        """The prompt with the candidates as lettered options; where the prompt has no place for them, without."""
        lettered = {chr(ord("A") + n): text for n, text in enumerate(candidates)}
        lines = [
            _filled(self.option, letter=letter, number=str(n), text=text)
            for n, (letter, text) in enumerate(lettered.items(), 1)
        ]
        options = {"options": "\n".join(lines), "options_dict": str(lettered)}
        return _filled(self.prompt, question=self.text, **options)

    def of_frames(self, count: int) -> "Question":
        """The question with the number of frames that are shown in its prompt."""
        return replace(self, prompt=_filled(self.prompt, frames=str(count)))

    def is_yes_no(self, candidates: Sequence[str]) -> bool:
        """Whether the answer is yes or no, and not a letter."""
        plain = sorted(text.strip(" .").lower() for text in candidates)
        return plain == ["no", "yes"] and "{options" not in self.prompt


# Of candidates that answer no question: they are captions.
WHICH_SENTENCE = Question("Which of these sentences describes the video?")


def question_of(row: Mapping[str, object]) -> "Question | None":
    """The question of a row with the prompt that its set was published with (in `meta`); None if it has none."""
    if row.get("question") is None:
        return None
    meta = json.loads(str(row["meta"] or "{}"))
    return Question(str(row["question"]), **{name: str(meta[name]) for name in ("prompt", "option") if meta.get(name)})


def _filled(template: str, **values: str) -> str:
    """The template with its places filled; what is put in is never filled itself."""
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), template)
