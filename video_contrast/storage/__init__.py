"""Sets and runs on disk: the only code that knows how their files are called and laid out.

SetFolder    a set: its record, its configs and splits, their rows, the card beside them
SetDraft     changes of a set, written together
RunFolder    a run: its record, its metrics, its scores, its similarity matrices
"""

from video_contrast.storage.run_folder import RunFolder
from video_contrast.storage.set_draft import SetDraft
from video_contrast.storage.set_folder import SetFolder

__all__ = ["RunFolder", "SetDraft", "SetFolder", "open_run", "open_set"]

open_run = RunFolder.open
open_set = SetFolder.open
