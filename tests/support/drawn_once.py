"""Clips of the shapes world, drawn and encoded once for all sets that the tests build.

A clip is a function of its scene alone (tests/builders/test_shapes.py holds that, with clips that are drawn anew), and
drawing them is most of what a small set costs. The folder is shared by the test processes.
"""

import os
import shutil
from hashlib import sha256
from pathlib import Path

from video_contrast.builders.shapes.shapes import SceneClip

FOLDER = "VIDEO_CONTRAST_TEST_CLIPS"  # the variable that names the folder
draw = SceneClip.write


def keep(folder: Path) -> None:
    """From now on, clips are kept in a folder and copied from there."""
    folder.mkdir(parents=True, exist_ok=True)

    def write(clip: SceneClip, path: Path) -> None:
        kept = folder / f"{sha256(repr(clip.scene).encode()).hexdigest()[:32]}.mp4"
        if not kept.exists():
            new = kept.with_name(f"{kept.stem}-{os.getpid()}.mp4")
            draw(clip, new)
            new.replace(kept)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, path)

    SceneClip.write = write  # type: ignore[method-assign]
