"""Licences as the Hub names them: from free words to its identifier."""

import re

# Licences that captions and videos come under. The Hub knows more, and refuses a card with an id that it does not know.
_IDS = {
    "apache-2.0", "bsd-3-clause", "cc0-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0", "mit",
    "odbl", "odc-by", "pddl", "unknown",
    *(f"cc-by{terms}-{year}" for terms in ("", "-sa", "-nc", "-nc-sa", "-nc-nd") for year in ("3.0", "4.0")),
    "cc-by-2.0", "cc-by-2.5", "cc-by-nc-2.0", "cc-by-nc-sa-2.0", "cc-by-nd-4.0",
}  # fmt: skip
_SHORT = {"cc0": "cc0-1.0", "apache": "apache-2.0", "mit-licence": "mit", "mit-license": "mit"}


def licence_fields(licence: str) -> dict[str, str]:
    """The fields of a licence in a card's YAML: the Hub's id, or "other" with the words.

    >>> licence_fields("CC BY-NC 4.0"), licence_fields("ask the museum")
    ({'license': 'cc-by-nc-4.0'}, {'license': 'other', 'license_name': 'ask the museum'})
    """
    name = re.sub(r"[\s_]+", "-", licence.strip().lower())
    name = _SHORT.get(name, name)
    return {"license": name} if name in _IDS else {"license": "other", "license_name": licence}
