"""Decoding 8 of 450 frames: PyAV, as the package uses it, beside torchcodec where that can be loaded.

    python benchmarks/decoding.py [--clips 8] [--repeats 3]

Clips with short and long groups of pictures are made on the spot and spread over 1, 2 and 8 threads; a file's index is
made anew each time. Clips a wall second and CPU seconds a clip are medians. `frames decoded / minimum` counts what was
decoded over what has to be: in each group of pictures with a wanted frame, the frames up to the last wanted one and to
what this one refers to.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from parts.command_line import parser_of

from video_contrast.video import Counter, decode, frame_indices

FRAMES, WANTED, HEIGHT, WIDTH = 450, 8, 240, 320
GROUPS = (12, 250)  # frames in a group of pictures: as editing needs it, and x264's default
THREADS = (1, 2, 8)
AIM = 1.1
Decoder = Callable[[Path, Sequence[int]], npt.NDArray[np.uint8]]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--clips", type=int, default=8, help="of each length of groups [default: 8]")
    parser.add_argument("--repeats", type=int, default=3, help="runs whose median is printed [default: 3]")
    options = parser.parse_args()
    numbers = [int(number) for number in frame_indices(FRAMES, WANTED)]
    decoders: dict[str, Decoder] = {"PyAV": decode}
    try:
        decoders["torchcodec"] = torchcodec_decoder()
    except (ImportError, RuntimeError, OSError) as error:
        print(f"torchcodec cannot be loaded and is left out: {str(error).splitlines()[0]}\n")
    with tempfile.TemporaryDirectory() as folder:
        files = {group: [write(Path(folder), group, n) for n in range(options.clips)] for group in GROUPS}
        print("| frames in a group of pictures | frames decoded / minimum | aim |\n|---|---|---|")
        for group in GROUPS:
            print(f"| {group} | {over_minimum(files[group], numbers):.3f} | at most {AIM} |")
        print(
            "\n| decoder | frames in a group | threads | clips a second | CPU seconds a clip |\n|---|---|---|---|---|"
        )
        for group in GROUPS:
            for name, decoder in decoders.items():
                for threads in THREADS:
                    wall, cpu = seconds(decoder, files[group], numbers, threads=threads, repeats=options.repeats)
                    print(f"| {name} | {group} | {threads} | {1 / wall:.1f} | {cpu:.3f} |", flush=True)
        for name, decoder in list(decoders.items())[1:]:
            pairs = [(decoder(paths[0], numbers), decode(paths[0], numbers)) for paths in files.values()]
            worst = max(int(np.abs(theirs.astype(int) - ours).max()) for theirs, ours in pairs)
            print(f"\n{name} and PyAV: at most {worst} grey levels apart")


def write(folder: Path, group: int, number: int) -> Path:
    """Writes a clip of a moving picture with x264's B-frames and a key frame every `group` frames."""
    picture = np.random.default_rng(number).integers(0, 256, (HEIGHT // 16, WIDTH // 16, 3), np.uint8)
    picture = picture.repeat(16, axis=0).repeat(16, axis=1)
    path = folder / f"{group}-{number}.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(30))
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.gop_size = group
        stream.options = {"preset": "veryfast", "x264-params": "scenecut=0"}
        for at in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(np.roll(picture, 2 * at, axis=1), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def torchcodec_decoder() -> Decoder:
    """Frames by number with torchcodec, one FFmpeg thread a clip.

    Raises:
        ImportError: it is not installed.
        RuntimeError: it finds no FFmpeg, or was built for another torch.
    """
    from torchcodec.decoders import VideoDecoder

    def frames(path: Path, numbers: Sequence[int]) -> npt.NDArray[np.uint8]:
        decoder = VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=1, seek_mode="exact")
        return np.asarray(decoder.get_frames_at(list(numbers)).data, np.uint8)

    return frames


def over_minimum(files: Sequence[Path], numbers: Sequence[int]) -> float:
    counter = Counter()
    for path in files:
        decode(path, numbers, counter)
    return counter.decoded / counter.minimum


def seconds(
    decoder: Decoder, files: Sequence[Path], numbers: Sequence[int], *, threads: int, repeats: int
) -> tuple[float, float]:
    """Median wall and CPU seconds a clip."""
    wall, cpu = [], []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(repeats):
            for path in files:  # a file that changed is indexed anew
                os.utime(path)
            began, worked = time.perf_counter(), time.process_time()
            list(pool.map(lambda path: decoder(path, numbers), files))
            wall.append((time.perf_counter() - began) / len(files))
            cpu.append((time.process_time() - worked) / len(files))
    return statistics.median(wall), statistics.median(cpu)


if __name__ == "__main__":
    main()
