"""The command `video-contrast` from a process that has imported everything once: each call is a fork of it.

A call has a process, arguments, folder, environment and streams of its own, as the installed script has; what it saves
is the seconds of importing torch, transformers and datasets. `command` forks the process that answers the calls from
that of the tests, and returns a folder for PATH with a script that asks it.
"""

import gc
import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IDLE = 900  # seconds without a call after which the process ends
CLIENT = """#!{python} -SE
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
server.sendall(call)
code = server.recv(1)
sys.exit(code[0] if code else 70)
"""


@contextmanager
def command(folder: Path) -> Iterator[Path]:
    """Yields a folder that holds `video-contrast`, while the process that answers it runs.

    Args:
        folder: an empty folder.
    """
    address = f"/tmp/video-contrast-{os.getpid()}-{time.time_ns()}"  # a path in the test's folder may be too long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        _import_all()
        server = os.fork()
        if server == 0:
            try:
                serve(listening)
            finally:
                os._exit(1)
    script = folder / "video-contrast"
    script.write_text(CLIENT.format(python=sys.executable, address=address))
    script.chmod(0o755)
    try:
        yield folder
    finally:
        os.kill(server, signal.SIGTERM)
        os.waitpid(server, 0)
        Path(address).unlink()


def _import_all() -> None:
    """Imports what commands need and reads their tables. The process of the tests needs most of it itself."""
    import datasets
    import matplotlib.figure
    import peft
    import sklearn.linear_model
    import torch._dynamo  # optimizers import it at their first step
    import transformers

    import video_contrast.api
    import video_contrast.cli
    import video_contrast.teacher.run
    from video_contrast.builders.registry import all_builders
    from video_contrast.perturbations.contrast.generate import load_counts
    from video_contrast.perturbations.english import parse_one
    from video_contrast.perturbations.english.forms import lemma, verb_tags

    assert datasets and matplotlib.figure and peft and sklearn.linear_model and torch._dynamo
    assert video_contrast.api and video_contrast.cli and video_contrast.teacher.run
    assert transformers.AutoModel and transformers.CLIPModel and transformers.AutoProcessor  # made at first use
    assert all_builders() and load_counts() and lemma("cats", "NNS") and verb_tags("runs")
    assert parse_one("a man runs").words  # with its model


def serve(listening: socket.socket) -> None:
    """Answers calls at the socket until this process is ended."""
    _run_once()
    gc.collect()
    gc.freeze()  # calls need not walk what was imported
    listening.settimeout(IDLE)  # where a test run was killed, nobody ends this process
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _answer(connection)
        connection.close()


def _run_once() -> None:
    """Scores and reports four clips, so that what libraries prepare at first use (patterns, fonts) is there."""
    from video_contrast import cli

    with tempfile.TemporaryDirectory() as folder:
        made, run = f"{folder}/set", f"{folder}/run"
        shapes = ["build", "shapes", "--config", "verb_mc", "--items", "4", "--output", made]
        score = ["score", "--model", "bag-of-frames", "--dataset", made, "--output", run, "--store", f"{folder}/store"]
        for call in (shapes, score, ["report", run, "--output", f"{folder}/report.html"]):
            assert cli.main([*call, "--quiet"]) == 0, call


def _reap(*_: object) -> None:
    """Waits for calls that ended, so that their CPU time counts as that of the tests."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _answer(connection: socket.socket) -> None:
    """Runs one call in this process and ends it."""
    from video_contrast import cli

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(connection, 4, 3)
    call = b""
    while len(call) < int.from_bytes(length, "big"):
        call += connection.recv(1 << 16)
    arguments, folder, environment = json.loads(call)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # not those in which pytest captures what is printed
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["video-contrast", *arguments]
    try:
        code = cli.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(bytes([code]))
    os._exit(code)
