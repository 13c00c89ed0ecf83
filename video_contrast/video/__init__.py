"""Video files: one decoder, one clock, which frames are sampled, writing.

- `container`: opens regular files of video containers only; `BrokenVideo` and `DamagedVideo` say what is wrong.
- `clock`: `index_of(path)` lists when each frame is shown; spans in seconds become frames by these times.
- `sampling`: which frames of a clip are looked at, pure functions of times.
- `decode`: exactly the wanted frames, from only the groups of pictures that hold them; `verify` decodes
  them all, `read_video` returns a span as an array.
- `picture`: a decoded frame in RGB, upright.
- `write`: `write_video`, deterministic bytes.
- `segments`: `Clip`, the one name of a span of a file, or of an edit: a list of `Segment`.
- `timeline`: when an edited clip shows which source frame, and at which its edits are sampled, so that they share them.
- `footage`: `footage_of(root, clip)`, the frames of any clip under one numbering and clock.
"""

from video_contrast.video.clock import VideoIndex, index_of
from video_contrast.video.container import BrokenVideo, DamagedVideo
from video_contrast.video.decode import Counter, DecodedClip, decode, read_video, verify
from video_contrast.video.footage import EditedFootage, Footage, UnseenEdit, footage_of, mirrored_picture, upright_size
from video_contrast.video.sampling import POLICIES, Frames, Policy, Rounding, frame_indices, sampled_frames, span_frames
from video_contrast.video.segments import Clip, Segment, pause, segments_of
from video_contrast.video.write import Quality, as_frames, write_video

__all__ = [
    "POLICIES", "BrokenVideo", "Clip", "Counter", "DamagedVideo", "DecodedClip", "EditedFootage", "Footage", "Frames",
    "Policy", "Quality", "Rounding", "Segment", "UnseenEdit", "VideoIndex", "as_frames", "decode",
    "footage_of", "frame_indices", "index_of", "mirrored_picture", "pause", "read_video",
    "sampled_frames", "segments_of", "span_frames", "upright_size", "verify", "write_video",
]  # fmt: skip
