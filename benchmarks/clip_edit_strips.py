"""Contact strips of edited clips: for each kind one group, each clip a line of frames with its caption.

    python benchmarks/clip_edit_strips.py SET VIDEO_ROOT OUTPUT.jpg

`docs/images/clip-edits.jpg` was made by it, from clips of Intel's sample videos (CC BY 4.0). SET is built by
`video-contrast build clip-edits`.
"""

from pathlib import Path

from parts.command_line import parser_of
from PIL import Image, ImageDraw

import video_contrast
from video_contrast.reports.strips import clip_frames
from video_contrast.rows import MultipleChoiceRow
from video_contrast.video import Clip

HEIGHT, LINE, WIDTH = 54, 15, 760  # pixels


def line(row: MultipleChoiceRow, root: Path) -> Image.Image:
    """The frames of a clip under its kind and its caption."""
    picture = Image.new("RGB", (WIDTH, HEIGHT + LINE), "white")
    text = f"{row['group'].partition('-')[0]}: {row['candidates'][row['label']]}"
    ImageDraw.Draw(picture).text((2, 2), text, fill="black")
    left = 0
    for frame in clip_frames(root, Clip.of(row), frames=8):
        small = frame.resize((round(frame.width * HEIGHT / frame.height), HEIGHT))
        picture.paste(small, (left, LINE))
        left += small.width + 2
    return picture


def main() -> None:
    """Writes the strips of the first group of every kind of a set."""
    parser = parser_of(__doc__)
    parser.add_argument("set", nargs="?", help="folder of the set")
    parser.add_argument("video_root", type=Path, nargs="?", help="where its videos lie")
    parser.add_argument("output", nargs="?", help="the picture to write, .jpg")
    options = parser.parse_args()
    if options.output is None:
        print("left out: give SET VIDEO_ROOT OUTPUT.jpg")
        return
    lines = []
    opened = video_contrast.open_set(options.set)
    for kind in opened.configs:
        rows = opened.choice_rows(kind, "test")
        lines += [line(row, options.video_root) for row in rows if row["group"] == rows[0]["group"]]
    whole = Image.new("RGB", (WIDTH, len(lines) * (HEIGHT + LINE)), "white")
    for number, picture in enumerate(lines):
        whole.paste(picture, (0, number * (HEIGHT + LINE)))
    whole.save(options.output, quality=60, optimize=True)


if __name__ == "__main__":
    main()
