"""How candidates are asked about, and what an answer in words says: a letter, or yes or no.

Nothing is guessed: "A man runs" is a sentence, not the letter A. Exports to other tools carry this file as it is, so it
needs the standard library only.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Question:
    """The question that the candidates of an item answer, and how its authors ask it."""

    text: str  # the question
    # what a model is asked, word for word as published, with `{question}` and `{options}` (or `{options_dict}`,
    # as Python writes letters and texts) where they belong, `{letters}` for "A, B, or C", `{frames}` for their number.
    prompt: str = "{question}\n{options}\nAnswer with the letter of the one that fits."
    option: str = "{letter}. {text}"  # a line of the options, with `{letter}` (or `{number}`) and `{text}`

    def prompt_for(self, candidates: Sequence[str]) -> str:
        """The prompt with the candidates as lettered options; where the prompt has no place for them, without."""
        lettered = {chr(ord("A") + n): text for n, text in enumerate(candidates)}
        numbered = enumerate(lettered.items(), 1)
        lines = [_filled(self.option, letter=letter, number=str(n), text=text) for n, (letter, text) in numbered]
        names = list(lettered)
        letters = ", ".join([*names[:-1], f"or {names[-1]}"]) if len(names) > 2 else " or ".join(names)
        options = {"options": "\n".join(lines), "options_dict": str(lettered), "letters": letters}
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


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
# Marks and the words with which models introduce an answer: "**", "The answer is: (", "\boxed{".
_BEFORE = (
    r"[\W_]*(?:(?:the\s+)?(?:(?:correct|best|right|final)\s+)?(?:answer|option|choice)\b(?:\s+is\b)?|boxed\b)?[\W_]*"
)
_YES_NO = re.compile(_BEFORE + r"(yes|no)(?![^\W_]|/)", re.IGNORECASE)
# A letter ends the answer, or a mark follows it. "A" and "I" are words too; others may stand before one ("B because").
_LETTER = re.compile(
    rf"(?i:{_BEFORE})(?:([A-Za-z])(?=[\W_]*$|[):])|([A-Z])(?=\s*[.,:;)\]}}*_<]|\s*\n)|([B-HJ-Z])(?=\s+(?!(?:or|and)\b)))"
)


def letter_place(answer: str, count: int) -> "tuple[str, int] | None":
    """The first letter that an answer such as "**B**", "(B) because" or "The answer is B." gives, and where it stands.

    None where it gives none of the first `count` letters, or a sentence begins with it.
    """
    thoughts = THOUGHTS.match(answer)
    match = _LETTER.match(answer, thoughts.end() if thoughts else 0)
    letter = match[match.lastindex or 0].upper() if match else ""
    return (letter, match.start(match.lastindex or 0)) if match and letter in LETTERS[:count] else None


def letter_of(answer: str, options: "list[str]") -> str:
    """The letter of an answer, or of the option that it repeats word for word; "" if it is neither.

    >>> [letter_of(text, ["x", "B flat", "y"]) for text in ("(C) because", "C. a man", "B flat.", "Y", "A man runs")]
    ['C', 'C', 'B', 'C', '']
    """
    text = THOUGHTS.sub("", answer).strip().rstrip(".").lower()
    repeated = [LETTERS[n] for n, option in enumerate(options) if text == option.strip().rstrip(".").lower()]
    place = letter_place(answer, len(options))
    if place and not (repeated and re.search(r"\w\W*\w", text)):  # an option may be a letter, and of another place
        return place[0]
    return repeated[0] if repeated else ""


def yes_no_place(answer: str) -> "tuple[str, int] | None":
    """ "yes" or "no", with which an answer begins, and where it stands; None where it begins with neither."""
    thoughts = THOUGHTS.match(answer)
    match = _YES_NO.match(answer, thoughts.end() if thoughts else 0)
    return (match[1].lower(), match.start(1)) if match else None


def candidate_of(answer: str, candidates: "list[str]", *, yes_no: bool = False) -> "int | None":
    """The number of the candidate that an answer names, by its letter or word for word; None if it names none.

    `candidates`: in the order in which they were lettered. `yes_no`: they are yes and no.
    """
    if yes_no:
        place = yes_no_place(answer)
        return [text.strip(" .").lower() for text in candidates].index(place[0]) if place else None
    letter = letter_of(answer, candidates)
    return LETTERS.index(letter) if letter else None
