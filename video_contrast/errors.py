"""The one family of errors that a user is meant to read.

The command line prints such an error as one line and exits with its code; Python callers catch
`VideoContrastError`. It is a `ValueError`, so numpy-style callers need no import to catch it.
"""


class VideoContrastError(ValueError):
    """Something failed and the message says what, where (file, row, option) and what to do."""

    exit_code = 1


class UsageError(VideoContrastError):
    """The call itself is wrong: an unknown name, a missing option, a value out of range."""

    exit_code = 2


def unknown_name(kind: str, name: str, known: "list[str] | tuple[str, ...]") -> UsageError:
    """Returns an error for a name that is not in `known`, which suggests the nearest one.

    Args:
        kind: what is named, for the message ("perturbation").
        name: as given.
        known: the names that there are.

    >>> print(unknown_name("perturbation", "keybord", ["keyboard", "ocr"]))
    unknown perturbation 'keybord': did you mean 'keyboard'? Known: keyboard, ocr
    """
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f": did you mean {near[0]!r}?" if near else "."
    return UsageError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known) or 'none'}")
