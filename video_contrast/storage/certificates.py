"""Certificates on disk: those that are shipped, and those that `certify` wrote on this machine."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, cache_dir, read_json, write_text
from video_contrast.golden import CERTIFICATES
from video_contrast.storage.run_file_fields import RunRecord

VERSION = 1
LARGEST = 1 << 20  # bytes of a certificate that is fetched
SECONDS = 30.0  # for fetching it


def write_certificate(certificate: Json, path: Path | None = None) -> Path:
    """Writes what `certify` made; by default into the user's cache, where `score` finds it, named by what it is of."""
    model = certificate["model"]
    name = re.sub(r"[^\w.-]+", "-", f"{model['name']}-{model['revision'][:8]}-{model['dtype']}")
    target = path or cache_dir() / "certificates" / f"{name}.json"
    return write_text(target, json.dumps(certificate, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n")


def read_certificate(source: str) -> Json:
    """A certificate from a file or an https address.

    Raises UsageError: an address of another kind; VideoContrastError: it cannot be read, or is no certificate.
    """
    if re.match(r"\w+://", source):
        if not source.startswith("https://"):
            raise UsageError(f"{source}: give a file or an address that begins with https://")
        import urllib.request  # slow to import, and of addresses alone

        try:
            with urllib.request.urlopen(source, timeout=SECONDS) as answer:
                value = json.loads(answer.read(LARGEST))
        except (OSError, ValueError) as error:
            raise VideoContrastError(f"{source} cannot be fetched: {error}") from error
    else:
        value = read_json(source)
    if not isinstance(value, dict) or value.get("certificate") != VERSION:
        raise VideoContrastError(f"{source} is no certificate of version {VERSION}")
    return value


def is_of(certificate: Json, record: RunRecord) -> bool:
    """Whether a certificate is of a run's model: of its revision, kind, options and dtype."""
    model, other = record["model"], certificate.get("model")
    if not isinstance(other, dict) or not isinstance(other.get("options"), dict):  # of a certificate by anyone
        return False
    same = all(other.get(name) == model[name] for name in ("revision", "kind", "kind_version"))
    same_options = all(model["options"].get(name) == value for name, value in other["options"].items())
    return same and same_options and other.get("dtype") == record["dtype"]


def certified_lines(record: RunRecord) -> list[str]:
    """The notes on a run for whose model, kind, options and dtype a certificate is known; [] without one."""
    for path, certificate in certificates_in(CERTIFICATES, cache_dir() / "certificates"):
        if is_of(certificate, record):
            libraries = certificate["versions"]
            versions = ", ".join(f"{n} {libraries[n]}" for n in ("torch", "transformers") if n in libraries)
            return [f"certified for this revision: {path.name} ({record['dtype']}, {versions})"]
    return []


def certificates_in(*folders: Path) -> Iterator[tuple[Path, Json]]:
    """The certificates that lie in folders; other JSON files, and certificates of another version, are passed over."""
    for folder in folders:
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            value = read_json(path)
            if isinstance(value, dict) and value.get("certificate") == VERSION:
                yield path, value
