"""A stand-in for the Hub's HTTP in memory: enough of it to push data sets, Spaces and results, and to load them.

    with FakeHub() as hub:
        HfApi(endpoint=hub.url, token="x") ...

Repositories have branches whose commits are dicts path -> bytes. `hub.fail(...)` makes requests fail on purpose:
missing permission, a server error, or a connection that breaks in the middle of an upload.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

LARGE = (".parquet", ".mp4", ".png", ".safetensors", ".npy")


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Repo:
    """A repository: branches of lists of commits, newest last."""

    kind: str
    private: bool = False
    gated: bool = False
    branches: dict[str, list[tuple[str, dict[str, bytes]]]] = field(default_factory=lambda: {"main": [("0" * 40, {})]})
    pull_requests: list[dict[str, bytes]] = field(default_factory=list)

    def at(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        if revision in self.branches:
            return self.branches[revision][-1]
        return next((c for commits in self.branches.values() for c in commits if c[0] == revision), None)


class FakeHub:
    """The server; a context manager."""

    def __init__(self, user: str = "me") -> None:
        self.user = user
        self.repos: dict[tuple[str, str], Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self._failures: list[Callable[[str, str], int | None]] = []
        hub = self

        class Handler(_Handler):
            server_hub = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "FakeHub":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, method: str, pattern: str, status: int, *, after: int = 0, times: int = 1) -> None:
        """Answers `times` requests that match with `status` (0: breaks the connection), after `after` good ones."""
        state = {"seen": 0}

        def decide(verb: str, path: str) -> int | None:
            if verb != method or not re.search(pattern, path):
                return None
            state["seen"] += 1
            return status if after < state["seen"] <= after + times else None

        self._failures.append(decide)

    def heal(self) -> None:
        """Ends all failures."""
        self._failures.clear()

    def failure(self, method: str, path: str) -> int | None:
        """The status a request must fail with, if any."""
        return next((status for decide in self._failures if (status := decide(method, path)) is not None), None)

    def files(self, name: str, kind: str = "dataset", revision: str = "main") -> dict[str, bytes]:
        """What a repository holds."""
        found = self.repos[kind, name].at(revision)
        assert found is not None
        return found[1]

    def uploads(self) -> list[str]:
        """The large objects that were sent, in order."""
        return [path for method, path in self.requests if method == "PUT"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_hub: FakeHub

    def log_message(self, *_: Any) -> None:
        return

    def do_GET(self) -> None:
        self._route("GET")

    def do_HEAD(self) -> None:
        self._route("HEAD")

    def do_POST(self) -> None:
        self._route("POST")

    def do_PUT(self) -> None:
        self._route("PUT")

    def _route(self, method: str) -> None:
        hub = self.server_hub
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = hub.failure(method, path)
        if status == 0:
            self.close_connection = True
            self.connection.close()
            return
        if status is not None:
            self._send({"error": "made to fail"}, status)
            return
        hub.requests.append((method, path))
        for pattern, action in _ROUTES:
            found = re.fullmatch(pattern, path)
            if found:
                action(self, method, body, parse_qs(parts.query), **found.groupdict())
                return
        self._missing("EntryNotFound")

    # ---- answers
    def _send(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _missing(self, code: str) -> None:
        self._send({"error": code}, 404, {"X-Error-Code": code})

    def _repo(self, kind: str, name: str) -> Repo | None:
        found = self.server_hub.repos.get((kind.rstrip("s"), name))
        if found is None:
            self._missing("RepoNotFound")
        return found

    def _commit(self, kind: str, name: str, revision: str) -> tuple[Any, tuple[str, dict[str, bytes]] | None]:
        """A repository and what it holds at a revision; where there is none, that is answered."""
        repo = self._repo(kind, name)
        commit = repo.at(revision) if repo else None
        if repo and commit is None:
            self._missing("RevisionNotFound")
        return repo, commit

    # ---- routes
    def whoami(self, method: str, body: bytes, query: Any) -> None:
        self._send({"name": self.server_hub.user, "type": "user", "auth": {"accessToken": {"role": "write"}}})

    def validate_yaml(self, method: str, body: bytes, query: Any) -> None:
        import yaml

        head = json.loads(body)["content"].split("---")
        broken = len(head) < 3 or not isinstance(yaml.safe_load(head[1]), dict)
        self._send({"warnings": [], "errors": [{"message": "no YAML"}] if broken else []}, 400 if broken else 200)

    def create(self, method: str, body: bytes, query: Any) -> None:
        wanted = json.loads(body)
        kind = wanted.get("type", "model")
        name = f"{wanted.get('organization') or self.server_hub.user}/{wanted['name']}"
        if (kind, name) in self.server_hub.repos:
            self._send({"error": "You already created this repo", "url": self._page(kind, name)}, 409)
            return
        self.server_hub.repos[kind, name] = Repo(
            kind, bool(wanted.get("private")) or wanted.get("visibility") == "private"
        )
        self._send({"url": self._page(kind, name), "name": name, "id": "1"})

    def _page(self, kind: str, name: str) -> str:
        return f"{self.server_hub.url}/{'' if kind == 'model' else kind + 's/'}{name}"

    def branch(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str) -> None:
        repo = self._repo(kind, name)
        if repo is None:
            return
        if revision in repo.branches:
            self._send({"error": "already exists"}, 409)
            return
        repo.branches[revision] = list(repo.branches["main"])
        self._send({})

    def info(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str = "main") -> None:
        repo, commit = self._commit(kind, name, revision)
        if commit is None:
            return
        sha, files = commit
        self._send({
            "_id": "1", "id": name, "sha": sha, "private": repo.private, "gated": repo.gated, "disabled": False,
            "tags": [], "downloads": 0, "likes": 0, "siblings": [{"rfilename": path} for path in sorted(files)],
            "lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z",
        })  # fmt: skip

    def preupload(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str) -> None:
        _, commit = self._commit(kind, name, revision)
        if commit is None:
            return
        answers = []
        for file in json.loads(body)["files"]:
            large = file["path"].endswith(LARGE)
            answer = {"path": file["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
            held = commit[1].get(file["path"])
            if held is not None:
                answer["oid"] = hashlib.sha256(held).hexdigest() if large else _oid(held)
            answers.append(answer)
        self._send({"files": answers})

    def batch(self, method: str, body: bytes, query: Any, name: str, kind: str = "models/") -> None:
        objects = []
        for wanted in json.loads(body)["objects"]:
            entry: dict[str, Any] = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in self.server_hub.objects:
                entry["actions"] = {"upload": {"href": f"{self.server_hub.url}/objects/{wanted['oid']}"}}
            objects.append(entry)
        self._send({"transfer": "basic", "objects": objects})

    def put(self, method: str, body: bytes, query: Any, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.server_hub.objects[oid] = body
        self._send({})

    def commit(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str) -> None:
        repo, former = self._commit(kind, name, revision)
        if former is None:
            return
        files = dict(former[1])
        for line in body.decode().splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.server_hub.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                files.pop(value["path"], None)
        sha = hashlib.sha1(repr((former[0], sorted(files.items()))).encode()).hexdigest()
        answer = {"success": True, "commitOid": sha, "commitUrl": f"{self._page(kind.rstrip('s'), name)}/commit/{sha}"}
        if query.get("create_pr"):
            repo.pull_requests.append(files)
            answer["pullRequestUrl"] = f"{self._page(kind.rstrip('s'), name)}/discussions/{len(repo.pull_requests)}"
        else:
            repo.branches[revision].append((sha, files))
        self._send(answer)

    def tree(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str, folder: str = "") -> None:
        _, commit = self._commit(kind, name, revision)
        if commit is None:
            return
        prefix = f"{folder}/" if folder else ""
        inside = {path: data for path, data in commit[1].items() if path.startswith(prefix)}
        if folder and not inside:
            self._missing("EntryNotFound")
            return
        deep = query.get("recursive", ["false"])[0].lower() in ("true", "1")
        entries: dict[str, Any] = {}
        for path, data in sorted(inside.items()):
            rest = path[len(prefix) :].split("/")
            for depth in range(1, len(rest) if deep else min(2, len(rest))):
                directory = prefix + "/".join(rest[:depth])
                entries[directory] = {
                    "type": "directory",
                    "path": directory,
                    "oid": _oid(directory.encode()),
                    "size": 0,
                }
            if deep or len(rest) == 1:
                entries[path] = _file_entry(path, data)
        self._send(list(entries.values()))

    def paths_info(self, method: str, body: bytes, query: Any, kind: str, name: str, revision: str) -> None:
        _, commit = self._commit(kind, name, revision)
        if commit is None:
            return
        text = body.decode()
        wanted = json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
        answers = []
        for path in wanted:
            if path in commit[1]:
                answers.append(_file_entry(path, commit[1][path]))
            elif any(held.startswith(f"{path}/") for held in commit[1]):
                answers.append({"type": "directory", "path": path, "oid": _oid(path.encode()), "size": 0})
        self._send(answers)

    def resolve(
        self, method: str, body: bytes, query: Any, name: str, revision: str, file: str, kind: str = "models/"
    ) -> None:
        repo = self._repo((kind or "models/").rstrip("/"), name)
        if repo is None:
            return
        if repo.gated:
            self._send({"error": "Access is restricted"}, 403, {"X-Error-Code": "GatedRepo"})
            return
        _, commit = self._commit(repo.kind, name, revision)
        if commit is None:
            return
        data = commit[1].get(file)
        if data is None:
            self._missing("EntryNotFound")
            return
        headers = {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": commit[0], "Accept-Ranges": "bytes",
                   "Content-Type": "application/octet-stream"}  # fmt: skip
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked and method == "GET":
            start, end = int(asked[1]), int(asked[2] or len(data) - 1)
            if start >= len(data) and data:
                self._send({"error": "range"}, 416, {"Content-Range": f"bytes */{len(data)}"})
                return
            end = min(end, len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            self._send(data[start : end + 1], 206, headers)
            return
        self._send(data, 200, headers | ({"Content-Length": str(len(data))} if method == "HEAD" else {}))


def _file_entry(path: str, data: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "size": len(data), "oid": _oid(data)}
    if path.endswith(LARGE):
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
    return entry


_NAME = r"(?P<name>[^/]+/[^/]+)"
_API = rf"/api/(?P<kind>datasets|models|spaces)/{_NAME}"
_ROUTES: tuple[tuple[str, Any], ...] = (
    (r"/api/whoami-v2", _Handler.whoami),
    (r"/api/validate-yaml", _Handler.validate_yaml),
    (r"/api/repos/create", _Handler.create),
    (rf"{_API}/branch/(?P<revision>.+)", _Handler.branch),
    (rf"{_API}/preupload/(?P<revision>.+)", _Handler.preupload),
    (rf"{_API}/commit/(?P<revision>.+)", _Handler.commit),
    (rf"{_API}/paths-info/(?P<revision>.+)", _Handler.paths_info),
    (rf"{_API}/tree/(?P<revision>[^/]+)(?:/(?P<folder>.+))?", _Handler.tree),
    (rf"{_API}/revision/(?P<revision>.+)", _Handler.info),
    (_API, _Handler.info),
    (r"/objects/(?P<oid>[0-9a-f]{64})", _Handler.put),
    (rf"/(?P<kind>(?:datasets/|spaces/)?){_NAME}\.git/info/lfs/objects/batch", _Handler.batch),
    (rf"/(?P<kind>(?:datasets/|spaces/)?){_NAME}/resolve/(?P<revision>[^/]+)/(?P<file>.+)", _Handler.resolve),
)


def point_at(url: str, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """What `HF_ENDPOINT` and `HF_HOME` do in a process of its own."""
    import datasets.config
    from huggingface_hub import constants

    changed = {
        "ENDPOINT": url,
        "HUGGINGFACE_CO_URL_TEMPLATE": url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(cache),
        "HF_HUB_OFFLINE": False,
        "HF_HUB_DISABLE_XET": True,
    }
    for name, value in changed.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", url)
