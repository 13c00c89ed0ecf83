"""How fast a GPU is kept busy, in one command; `--small` runs it on a CPU with small sizes.

    python benchmarks/gpu.py [CLIPS_FOLDER]        real clips (made on the spot without a folder), random weights
    python benchmarks/gpu.py --small --device cpu  the default where there is no GPU

Prints throughput of image-text encoders (CLIP ViT-B/32 and ViT-L/14) over the slower of decoding alone and the model
alone (goal .9), shared-prefix scoring of a generative model of 2B size over its bound, bf16 against fp32 scores (rank
changes), peak memory, two processes on one device, decoding by NVDEC where torchcodec loads, and clips of 8 frames of
224x224 a second of each frame kernel (goal 500). Wall-clock medians over rounds that take turns; lowest and highest in
brackets. Weights are random: speed does not depend on them, rank changes do.
"""

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from parts.measuring import in_turn, parser_of
from parts.standins import clip_model, drifting, retrieval_set
from parts.throughput import load, throughput

from video_contrast.perturbations.video import perturb_clip
from video_contrast.perturbations.video.torch_kernels import EXACT, KERNELS
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.generative import Prefix, score_unshared
from video_contrast.runner.kinds.loading import unit
from video_contrast.seeds import NoiseStreams
from video_contrast.video import decode, frame_indices, read_video, write_video

MODELS = {"ViT-B/32": "clip-b32", "ViT-L/14": "clip-l14"}
SMALL = {"ViT-small/16": "clip-small"}
FRAMES = 8


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("clips", type=Path, nargs="?", help="a folder of mp4 files")
    parser.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cuda where there is one"
    )
    parser.add_argument(
        "--small", action="store_true", default=not torch.cuda.is_available(), help="as where there is no GPU"
    )
    parser.add_argument("--rounds", type=int, default=5, help="whose median is printed [default: 5; 2 if small]")
    parser.add_argument("--workers", type=int, default=16, help="threads that decode [default: 16; 1 if small]")
    parser.add_argument("--one-process", action="store_true", help="leave two processes on one device out")
    options = parser.parse_args()
    rounds = 2 if options.small else options.rounds
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = sorted(options.clips.glob("*.mp4")) if options.clips else make_clips(folder, 4 if options.small else 64)
        if not files:
            raise SystemExit(f"no .mp4 files in {options.clips}")
        sets = make_sets(folder, files)
        workers = 1 if options.small else options.workers
        halves = [] if options.one_process else sets[1:]
        names = SMALL if options.small else MODELS
        models = {name: str(clip_model(folder, size)) for name, size in names.items()}
        encoders(options.device, sets[0], halves, models=models, rounds=rounds, workers=workers)
        precision(options.device, files, models)
        nvdec(options.device, files)
    prefix(options.device, small=options.small, rounds=rounds)
    kernels(options.device, rounds=rounds, size=32 if options.small else 224)


def make_clips(folder: Path, count: int) -> list[Path]:
    """Clips of 10 s (1 s where there are few) at 320x240: a field of coloured squares that drifts."""
    paths = []
    for number in range(count):
        colours = np.random.default_rng(number).integers(0, 256, (15, 20, 3), np.uint8)
        frames = drifting(colours, square=16, step=2, count=25 if count < 10 else 250)
        paths.append(write_video(folder / f"{number:03d}.mp4", frames, 25))
    return paths


def make_sets(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Sets of links to the files: of all of them, and of each half."""
    roots = []
    for name, own in (("all", files), ("half-0", files[::2]), ("half-1", files[1::2])):
        roots.append(retrieval_set(folder / name, {f"{n}.mp4": f"clip {n}" for n in range(len(own))}))
        for n, path in enumerate(own):
            (roots[-1] / f"{n}.mp4").symlink_to(path.resolve())
    return roots


def clock_of(device: str) -> Callable[[], float]:
    """Wall-clock seconds at which a device has done what it was given."""

    def seconds() -> float:
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        return time.perf_counter()

    return seconds


def timed(device: str, call: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each call, after one that is not counted."""
    return in_turn({"call": call}, rounds + 1, clock_of(device))["call"][1:]


def rate(count: float, seconds: Sequence[float]) -> str:
    """How many a second: the median, with the lowest and the highest."""
    return f"{count / statistics.median(seconds):.1f} [{count / max(seconds):.1f}, {count / min(seconds):.1f}]"


def memory(device: str) -> str:
    """The largest memory that tensors held on a GPU since the last call."""
    if not device.startswith("cuda"):
        return "-"
    peak = torch.cuda.max_memory_allocated(device) / 2**30
    torch.cuda.reset_peak_memory_stats(device)
    return f"{peak:.1f}"


def encoders(
    device: str, folder: Path, halves: Sequence[Path], *, models: Mapping[str, str], rounds: int, workers: int
) -> None:
    """Prints clips a second of decoding, of the model, and of the engine with both."""
    count = len(list(folder.glob("*.mp4")))
    print(f"\n## {count} clips, {FRAMES} frames, {workers} decoding threads, {device}\n")
    print("| model | decode only | model only | together | over the slower | two processes | peak GB |")
    print("|---|---|---|---|---|---|---|")
    for name, model in models.items():
        memory(device)
        spent = throughput(load(model, FRAMES, device), folder, frames=FRAMES, batch=32, workers=workers, rounds=rounds)
        share = statistics.median(spent["together"]) / min(
            statistics.median(spent["decode"]), statistics.median(spent["model"])
        )
        cells = [f"{statistics.median(v):.1f} [{min(v):.1f}, {max(v):.1f}]" for v in spent.values()]
        peak = memory(device)
        both = "-"  # clips a second of two processes on one device together, half of the clips each
        if halves:
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                jobs = [(model, device, half, rounds, max(1, workers // 2)) for half in halves]
                both = f"{sum(pool.map(one_process, jobs, chunksize=1)):.1f}"
        print(f"| {name} | {' | '.join(cells)} | {share:.2f} | {both} | {peak} |", flush=True)


def one_process(job: tuple[str, str, Path, int, int]) -> float:
    """Clips a second of the engine in one of several processes."""
    model, device, half, rounds, workers = job
    spent = throughput(load(model, FRAMES, device), half, frames=FRAMES, batch=32, workers=workers, rounds=rounds)
    return statistics.median(spent["together"])


def precision(device: str, files: Sequence[Path], models: Mapping[str, str]) -> None:
    """Prints how far bf16 scores are from fp32 ones, and how many ranks differ."""
    print("\n| model | largest difference of a cosine, bf16 | clips whose ranking of 32 texts changes |\n|---|---|---|")
    texts = torch.nn.functional.normalize(torch.randn(32, 4096, generator=torch.Generator().manual_seed(0)), dim=1)
    for name, path in models.items():
        rows = {}
        for dtype in ("float32", "bfloat16"):
            model = load(path, FRAMES, device, dtype)
            lengths = {file: len(read_video(file).times) for file in files}
            clips = [decode(file, frame_indices(n, FRAMES).tolist()) for file, n in lengths.items()]
            rows[dtype] = model.encode_prepared([model.prepare(ClipFrames(clip)) for clip in clips])
        directions = unit(texts[:, : rows["float32"].shape[1]]).numpy()
        full, half = (own @ directions.T for own in rows.values())
        changed = int((full.argsort(1) != half.argsort(1)).any(1).sum())
        print(f"| {name} | {np.abs(full - half).max():.1e} | {changed} of {len(full)} |", flush=True)


def nvdec(device: str, files: Sequence[Path]) -> None:
    """Prints clips a second of torchcodec's decoder on the GPU, where it loads."""
    try:
        from torchcodec.decoders import VideoDecoder

        def decode() -> None:
            for path in files:
                decoder = VideoDecoder(path, device=device)
                count = decoder.metadata.num_frames or 1
                decoder.get_frames_at(np.linspace(0, count - 1, FRAMES).round().astype(int).tolist())

        print(f"\ntorchcodec on {device}: {rate(len(files), timed(device, decode, 3))} clips/s")
    except (ImportError, RuntimeError, OSError) as error:
        print(f"\ntorchcodec cannot decode on {device} and is left out: {str(error).splitlines()[0]}")


def prefix(device: str, *, small: bool, rounds: int) -> None:
    """Prints what sharing a prompt over captions saves, over what it can save at most."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    prompt, captions, length = (64, 4, 8) if small else (2048, 6, 16)
    sizes = (64, 128, 2, 4) if small else (1536, 8960, 28, 12)
    config = Qwen2Config(
        vocab_size=2000 if small else 151936, hidden_size=sizes[0], intermediate_size=sizes[1],
        num_hidden_layers=sizes[2], num_attention_heads=sizes[3], num_key_value_heads=2, max_position_embeddings=4096,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config).to(device, torch.float32 if small else torch.bfloat16).eval()
    ids = torch.randint(2000, (1, prompt), device=model.device)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    endings = torch.randint(2000, (captions, length)).tolist()

    def shared() -> list[torch.Tensor]:
        return Prefix(model, inputs, prompt).score(endings, lambda _, logits: logits, only_last=False)

    def unshared() -> list[torch.Tensor]:
        return score_unshared(model, inputs, endings, prompt, read=lambda _, logits: logits, only_last=False)

    memory(device)
    gap = max(float((a - b).abs().max()) for a, b in zip(shared(), unshared(), strict=True))  # warms both, too
    spent = in_turn({"shared": shared, "unshared": unshared}, rounds, clock_of(device))
    gain = statistics.median(spent["unshared"]) / statistics.median(spent["shared"])
    bound = captions * (prompt + length) / (prompt + captions * length)  # tokens without sharing over tokens with it
    size = sum(parameter.numel() for parameter in model.parameters()) / 1e9
    print(f"\nshared prefix, {size:.1f}B parameters, prompt {prompt}, {captions} captions of {length}:")
    print(f"{gain:.2f} times faster, bound {bound:.2f}, reached {gain / bound:.2f}; "
          f"{rate(captions, spent['shared'])} captions/s; largest difference of a logit {gap:.1e}")  # fmt: skip
    print(f"peak memory of both: {memory(device)} GB")


def kernels(device: str, *, rounds: int, size: int) -> None:
    """Prints clips a second of each frame kernel: frames on the device, random numbers drawn on the CPU."""
    print(f"\n| kernel | torch on {device}, clips of {FRAMES} x {size} x {size} a second (goal 500) | numpy |")
    print("|---|---|---|")
    frames = np.random.default_rng(0).integers(0, 256, (FRAMES, size, size, 3), np.uint8)
    pixels = torch.from_numpy(frames).to(device)
    streams = NoiseStreams()
    for name, kernel in KERNELS.items():

        def on_device(kernel: Callable[..., torch.Tensor] = kernel) -> None:
            for clip in range(10):
                kernel(pixels, 3, (streams.at(clip, frame) for frame in range(FRAMES)))

        def by_numpy(name: str = name) -> None:
            perturb_clip(frames, name, 3, video_id="a")

        with torch.inference_mode():
            fast = rate(10, timed(device, on_device, rounds))
        mark = "" if name in EXACT else " (within one grey level)"
        print(f"| {name}{mark} | {fast} | {rate(1, timed('cpu', by_numpy, rounds))} |", flush=True)


if __name__ == "__main__":
    main()
