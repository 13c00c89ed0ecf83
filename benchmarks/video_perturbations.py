"""Speed of the visual perturbations, as ratios measured side by side in one process.

    python benchmarks/video_perturbations.py kernels --peer PEER/lib/python3.11/site-packages
    python benchmarks/video_perturbations.py conditions [VIDEO]

`kernels`: frames a CPU-second against imagecorruptions 1.1.2 at our parameters, severity 3. The peer needs an
environment of its own (it wants an old setuptools and opencv-python):

    python -m venv PEER && PEER/bin/pip install "setuptools<81" imagecorruptions==1.1.2

`conditions`: all 90 conditions of a 10-second clip sampled at 8 frames, against the way of the robustness paper
(perturb the whole file, write it, decode it, sample it), with our own kernels on both sides.
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from parts.command_line import parser_of

from video_contrast.perturbations.registry import VIDEO
from video_contrast.perturbations.video import NAMES, SEVERITIES, VideoCondition, perturb_clip
from video_contrast.perturbations.video.clip import ClipKey
from video_contrast.perturbations.video.noise import PHOTONS, SPREAD
from video_contrast.seeds import NoiseStreams
from video_contrast.video import read_video, write_video

# our name -> (name in imagecorruptions, least ratio we hold ourselves to at 224x224)
KERNELS = {
    "gaussian_noise": ("gaussian_noise", 8.0),
    "shot_noise": ("shot_noise", 15.0),
    "impulse_noise": ("impulse_noise", 12.0),
    "speckle_noise": ("speckle_noise", 7.0),
    "zoom_blur": ("zoom_blur", 35.0),
    "motion_blur": ("motion_blur", 4.5),
    "defocus_blur": ("defocus_blur", 2.2),
    "jpeg": ("jpeg_compression", 1.6),
}
LEAST_MEAN = 7.5
# functions of the peer whose five severities differ from ours
CONSTANTS = {"shot_noise": PHOTONS, "speckle_noise": SPREAD}
SEVERITY = 3


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """A picture with the spectrum of a photograph (amplitude falls as 1/frequency) and correlated channels."""
    rng = np.random.default_rng(seed)
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    frequency[0, 0] = 1
    planes = [
        np.fft.irfft2(np.fft.rfft2(rng.standard_normal((height, width))) / frequency**1.2, (height, width))
        for _ in range(4)
    ]
    mixed = np.stack([planes[0] + 0.3 * plane for plane in planes[1:]], axis=-1)
    mixed = (mixed - mixed.mean()) / mixed.std() * 50 + 120
    return np.asarray(np.clip(mixed, 0, 255), np.uint8)


def load_peer(site_packages: Path | None) -> Callable[[np.ndarray, str], np.ndarray] | None:
    """The peer as one function (picture, its name) -> picture, with our constants where they differ.

    None where it is not installed; what to install is printed then.
    """
    if site_packages is not None:
        sys.path.append(str(site_packages))
    warnings.simplefilter("ignore")
    try:
        import imagecorruptions
        import imagecorruptions.corruptions as corruptions
    except ImportError as error:
        print(
            f"\nimagecorruptions cannot be imported ({error}), so our own speed stands alone. To compare:\n"
            '  python -m venv PEER && PEER/bin/pip install "setuptools<81" imagecorruptions==1.1.2\n'
            f"  python {sys.argv[0]} kernels --peer PEER/lib/python*/site-packages"
        )
        return None
    for name, ours in CONSTANTS.items():
        code = getattr(corruptions, name).__code__
        others = [c for c in code.co_consts if not (isinstance(c, tuple) and len(c) == 5)]
        if len(others) != len(code.co_consts) - 1:
            raise SystemExit(f"{name} of this imagecorruptions is not that of 1.1.2: its severities were not found")
        replaced = tuple(ours if isinstance(c, tuple) and len(c) == 5 else c for c in code.co_consts)
        getattr(corruptions, name).__code__ = code.replace(co_consts=replaced)

    def corrupt(frame: np.ndarray, name: str) -> np.ndarray:
        return np.asarray(imagecorruptions.corrupt(frame, corruption_name=name, severity=SEVERITY))

    return corrupt


def seconds(call: Callable[[], object], at_least: float = 0.02) -> float:
    """CPU seconds of one call, over as many as fill `at_least`."""
    calls, start = 0, time.process_time()
    while True:
        call()
        calls += 1
        if (spent := time.process_time() - start) >= at_least:
            return spent / calls


def kernels(site_packages: Path | None, rounds: int) -> None:
    peer = load_peer(site_packages)
    streams = NoiseStreams()

    def once(name: str, frame: np.ndarray) -> np.ndarray:
        return np.asarray(VIDEO[name].function(frame, SEVERITY, streams.at(0, name, "1", "video", None, None, 7)))

    for height, width in ((224, 224), (360, 480)):
        frame = picture(height, width)
        ratios = []
        print(f"\n{width}x{height}, severity {SEVERITY}: frames a CPU-second, median of {rounds} interleaved rounds\n")
        print("| perturbation | imagecorruptions 1.1.2 | video-contrast | ratio | at least |")
        print("|---|---|---|---|---|")
        for name, (theirs, least) in KERNELS.items():
            fast_call = partial(once, name, frame)
            fast_call()
            if peer is None:
                speed = 1 / np.median([seconds(fast_call) for _ in range(rounds)])
                print(f"| {name} | not installed | {speed:,.0f} | | |")
                continue
            slow_call = partial(peer, frame, theirs)
            slow_call()
            times = np.array([(seconds(slow_call), seconds(fast_call)) for _ in range(rounds)])
            ratio = float(np.median(times[:, 0] / times[:, 1]))
            ratios.append(ratio)
            slow, fast = 1 / np.median(times, axis=0)
            bound = f"{least:g}" if (height, width) == (224, 224) else ""
            print(f"| {name} | {slow:,.0f} | {fast:,.0f} | {ratio:.1f} | {bound} |")
        if peer is None:
            continue
        mean = float(np.exp(np.mean(np.log(ratios))))
        print(f"| geometric mean | | | {mean:.1f} | {LEAST_MEAN if height == 224 else ''} |")


def conditions(video: Path | None, every_severity: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if video is None:
            video = Path(folder) / "made.mp4"
            wide = picture(240, 640)
            write_video(video, np.stack([wide[:, t : t + 320] for t in range(300)]), 30)
        length = len(read_video(video, 0, 10).times)
        sampled = np.linspace(0, length - 1, 8).round().astype(int)
        key: ClipKey = {"video_id": video.stem}

        def ours() -> None:
            every = [VideoCondition(name, severity) for name in NAMES for severity in SEVERITIES]
            needed = np.unique(np.concatenate([c.sources(sampled, length, **key) for c in every]))
            clip = read_video(video, 0, 10, keep=needed.tolist())
            for condition in every:
                condition.frames(clip.frames, needed, sampled, length, **key)

        def papers(name: str, severity: int) -> None:
            clip = read_video(video, 0, 10)
            written = write_video(Path(folder) / "perturbed.mp4", perturb_clip(clip.frames, name, severity, **key), 30)
            read_video(written).frames[sampled]

        ours()  # tables are made once a process
        fast = min(seconds(ours, 0) for _ in range(3))
        severities = SEVERITIES if every_severity else (SEVERITY,)
        slow = sum(seconds(partial(papers, n, s), 0) for n in NAMES for s in severities) * len(SEVERITIES)
        slow /= len(severities)
        print(f"\n90 conditions of {length} frames sampled at 8, CPU seconds")
        if not every_severity:
            print("(the paper's way: severity 3 of all 18, times five)")
        print("\n| perturb, write, decode, sample | video-contrast | ratio | at least |\n|---|---|---|---|")
        print(f"| {slow:.1f} | {fast:.2f} | {slow / fast:.0f} | 15 |")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument(
        "what",
        choices=("kernels", "conditions", "all"),
        nargs="?",
        default="all",
        help="what is measured [default: all]",
    )
    parser.add_argument("video", type=Path, nargs="?", help="a clip for `conditions`; by default one is made")
    parser.add_argument("--peer", type=Path, help="site-packages of an environment with imagecorruptions")
    parser.add_argument("--rounds", type=int, default=15, help="whose median is printed [default: 15]")
    parser.add_argument("--full", action="store_true", help="measure the paper's way at all five severities")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    if arguments.what in ("conditions", "all"):
        conditions(arguments.video, arguments.full)
    if arguments.what in ("kernels", "all"):
        kernels(arguments.peer, arguments.rounds)


if __name__ == "__main__":
    main()
