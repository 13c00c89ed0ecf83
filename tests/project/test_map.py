"""The map of CONTRIBUTING names files that are there, and the rooms in the order that the import test holds."""

import re
from pathlib import Path


def test_every_place_of_the_map_exists(repository: Path) -> None:
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| where is ...") : text.index("- Randomness")]
    questions = [line for line in table.splitlines()[2:] if line.startswith("|")]
    places = re.findall(r"`([\w./]+/[\w.]*)`", table)
    assert len(questions) >= 12 and len(places) >= len(questions)
    assert not [place for place in places if not (repository / place).exists()]
