"""Makes the golden eight: `video_contrast/golden/`, the clips, captions and questions that certificates stand on.

    python tools/golden_clips.py video_contrast/golden

Everything is drawn here: fields of 1/f noise as the textures of nature have, gradients, letters, and shapes that move
over them. The files are written once and shipped: encoders differ between builds, and certificates name their pixels.
"""

import json
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from video_contrast import seeds
from video_contrast.files import write_text

SECONDS, RATE = 2.0, 8
TICKS = 8000  # a second
CRF = "26"
STEADY = "mbtree=0:rc-lookahead=0:bframes=0:sync-lookahead=0:threads=1"  # as of `video_contrast.video.write`
Place = tuple[float, float]  # shares of width and height
Draw = Callable[[np.ndarray, float], None]
Picture = np.ndarray  # uint8[H, W, 3]


@dataclass(frozen=True)
class Golden:
    """A golden clip: how it looks, and what is said of it."""

    name: str
    size: tuple[int, int]  # width, height as stored
    colours: tuple[tuple[int, int, int], tuple[int, int, int]]  # of the dark and the light parts of the texture
    draw: Draw  # draws what moves at a time of 0..1
    caption: str
    contrast: str
    question: str
    answers: tuple[str, str]  # true, false
    smooth: float = 1.6  # exponent of the texture's spectrum
    varying: bool = False  # whether frames are shown at uneven times
    turned: bool = False  # whether the file asks to be shown turned by 90 degrees


def texture(name: str, width: int, height: int, smooth: float) -> np.ndarray:
    """float64[H, W] in 0..1: noise whose amplitudes fall with a power of the frequency."""
    noise = seeds.stream("golden clip", name).standard_normal((height, width))
    falls = np.hypot(np.fft.fftfreq(height)[:, None] * height, np.fft.rfftfreq(width)[None] * width)
    falls[0, 0] = 1.0
    field = np.fft.irfft2(np.fft.rfft2(noise) / falls**smooth, s=(height, width))
    return np.asarray((field - field.min()) / np.ptp(field))


def background(clip: Golden) -> Picture:
    """The texture in two colours, under light that falls off to the right."""
    width, height = clip.size
    field = texture(clip.name, width, height, clip.smooth)[..., None] * np.linspace(1.0, 0.7, width)[None, :, None]
    dark, light = (np.array(colour, np.float64) for colour in clip.colours)
    return np.asarray(np.rint(dark + field * (light - dark)), np.uint8)


def place(picture: Picture, x: float, y: float) -> tuple[int, int]:
    """Pixels of a place given in shares of width and height."""
    return round(x * picture.shape[1]), round(y * picture.shape[0])


def ball(colour: tuple[int, int, int], start: Place, stop: Place, radius: float = 0.12) -> Draw:
    """A shaded ball that moves from one place to another."""

    def draw(picture: Picture, t: float) -> None:
        x, y = (a + t * (b - a) for a, b in zip(start, stop, strict=True))
        size = round(radius * picture.shape[0])
        for ring in range(size, 0, -1):
            shade = tuple(int(value * (0.5 + 0.5 * (1 - ring / size))) for value in colour)
            cv2.circle(picture, place(picture, x, y), ring, shade, -1)

    return draw


def bar(colour: tuple[int, int, int], first: float, last: float) -> Draw:
    """A bar that turns about the middle, from one angle to another (degrees)."""

    def draw(picture: Picture, t: float) -> None:
        angle = np.radians(first + t * (last - first))
        x, y = 0.3 * np.cos(angle) * picture.shape[0] / picture.shape[1], 0.3 * np.sin(angle)
        ends = place(picture, 0.5 - x, 0.5 - y), place(picture, 0.5 + x, 0.5 + y)
        cv2.line(picture, *ends, colour, max(4, picture.shape[0] // 14), cv2.LINE_AA)

    return draw


def words(text: str, colour: tuple[int, int, int], start: float, stop: float) -> Draw:
    """A word that moves across."""

    def draw(picture: Picture, t: float) -> None:
        scale = picture.shape[0] / 140
        at = place(picture, start + t * (stop - start), 0.55)
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_DUPLEX, scale, colour, max(2, round(2 * scale)), cv2.LINE_AA)

    return draw


def growing(colour: tuple[int, int, int], first: float, last: float) -> Draw:
    """A square that changes its size."""

    def draw(picture: Picture, t: float) -> None:
        side = (first + t * (last - first)) * picture.shape[0] / picture.shape[1], first + t * (last - first)
        corners = place(picture, 0.5 - side[0], 0.5 - side[1]), place(picture, 0.5 + side[0], 0.5 + side[1])
        cv2.rectangle(picture, *corners, colour, -1)

    return draw


def light(first: float, last: float) -> Draw:
    """Light that changes over the whole picture."""

    def draw(picture: Picture, t: float) -> None:
        picture[:] = np.clip(picture * (first + t * (last - first)), 0, 255).astype(np.uint8)

    return draw


GRASS, SAND = ((20, 60, 15), (130, 190, 80)), ((150, 110, 60), (240, 215, 160))
SEA, STONE = ((5, 30, 80), (90, 180, 220)), ((50, 50, 55), (200, 195, 190))
GOLDEN = (
    Golden("rolls", (320, 240), GRASS, ball((220, 40, 30), (0.1, 0.7), (0.9, 0.7)),
           "a red ball rolls to the right over grass", "a red ball rolls to the left over grass",
           "Which way does the ball roll?", ("to the right", "to the left")),
    Golden("falls", (426, 240), SEA, ball((245, 220, 60), (0.5, 0.1), (0.5, 0.85)),
           "a yellow ball sinks down in front of the sea", "a yellow ball rises up in front of the sea",
           "Where does the ball go?", ("down", "up")),
    Golden("turns", (480, 360), SAND, bar((40, 40, 150), 0, 150),
           "a blue stick turns clockwise on the sand", "a blue stick turns counterclockwise on the sand",
           "Which way does the stick turn?", ("clockwise", "counterclockwise"), varying=True),
    Golden("grows", (640, 360), STONE, growing((30, 150, 60), 0.05, 0.4),
           "a green square grows on a grey wall", "a green square shrinks on a grey wall",
           "What does the square do?", ("it grows", "it shrinks")),
    Golden("passes", (640, 480), SAND, words("OPEN", (20, 20, 20), 0.6, 0.0),
           "the word OPEN moves to the left in front of a yellow wall",
           "the word SHUT moves to the left in front of a yellow wall",
           "Which word is written there?", ("OPEN", "SHUT")),
    Golden("darkens", (854, 480), SEA, light(1.0, 0.15),
           "it gets dark over the water", "it gets light over the water",
           "Does it get dark?", ("yes", "no"), smooth=1.9),
    Golden("climbs", (960, 540), GRASS, ball((240, 240, 240), (0.15, 0.5), (0.85, 0.5), 0.2),
           "a white ball moves down over grass in a tall picture",
           "a white ball moves up over grass in a tall picture",
           "What colour is the ball?", ("white", "black"), smooth=1.9, turned=True),
    Golden("crosses", (1280, 720), STONE, ball((150, 60, 170), (0.9, 0.3), (0.1, 0.8), 0.15),
           "a purple ball crosses a wall of stone from the right above to the left below",
           "a purple ball crosses a wall of stone from the left below to the right above",
           "Where does the ball end?", ("on the left below", "on the right above"), smooth=2.0),
)  # fmt: skip


def write_clip(path: Path, clip: Golden) -> None:
    """Writes the file, with uneven times or a turned display where the clip says so."""
    count = round(SECONDS * RATE)
    still = background(clip)
    with av.open(str(path), "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height = clip.size
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": CRF, "preset": "veryslow", "flags": "+bitexact", "x264-params": STEADY}
        stream.codec_context.time_base = Fraction(1, TICKS)
        for number in range(count):
            at = number / RATE + (0.05 * (number % 3 == 1) if clip.varying else 0.0)
            picture = still.copy()
            clip.draw(picture, at / SECONDS)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = round(at * TICKS), Fraction(1, TICKS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    if clip.turned:
        turn(path)


def turn(path: Path) -> None:
    """Makes a file ask to be shown turned by 90 degrees: the matrix in the header of its track."""
    unit, half = 1 << 16, 1 << 30
    upright = struct.pack(">9i", unit, 0, 0, 0, unit, 0, 0, 0, half)
    turned = struct.pack(">9i", 0, unit, 0, -unit, 0, 0, 0, 0, half)
    content = path.read_bytes()
    header = content.index(b"tkhd")
    at = content.index(upright, header)
    path.write_bytes(content[:at] + turned + content[at + len(turned) :])


def rows() -> list[dict[str, object]]:
    """A row a clip: its caption among false ones, the question about it, and which candidates are true."""
    listed = []
    for number, clip in enumerate(GOLDEN):
        label = number % 3
        candidates = [clip.contrast, GOLDEN[(number + 3) % len(GOLDEN)].caption]
        candidates.insert(label, clip.caption)
        common = {"id": clip.name, "video_path": f"{clip.name}.mp4"}
        listed.append({**common, "candidates": candidates, "label": label})
    return listed


def questions() -> list[dict[str, object]]:
    """A row a question, true and false answer in turns."""
    listed = []
    for number, clip in enumerate(GOLDEN):
        answers = list(clip.answers if number % 2 == 0 else clip.answers[::-1])
        row = {"id": clip.name, "video_path": f"{clip.name}.mp4", "question": clip.question}
        listed.append({**row, "candidates": answers, "label": number % 2})
    return listed


def main(folder: Path) -> None:
    """Writes clips and tables."""
    for clip in GOLDEN:
        write_clip(folder / f"{clip.name}.mp4", clip)
    for name, table in (("captions", rows()), ("questions", questions())):
        write_text(folder / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in table))
    print(f"{sum(path.stat().st_size for path in folder.glob('*.mp4')) / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
