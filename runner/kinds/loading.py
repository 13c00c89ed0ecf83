"""The parts of all transformers kinds: loading a model and its processor, pixels, tokens, and the v5 return types.

What code of repositories that was written for transformers 4 leaves out is made up for while it is loaded.
"""

import pickle
import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError, how_to_install
from video_contrast.files import Json, JsonObject
from video_contrast.runner.kinds.base import ClipFrames, DualEncoder, LoadOptions, ModelSource, Prepared
from video_contrast.runner.model_files import merged
from video_contrast.untyped import Processor, Tensor, Tokenizer, TorchModel

Arrays = dict[str, np.ndarray]  # a processor's output for one clip, by the names under which the model takes it
Tensors = dict[str, Tensor]  # inputs of a model, by name
# Trained on lower-cased captions, padded to one length without an attention mask: padding is part of the text.
SIGLIP = ("siglip", "siglip2")
NO_TOKENIZER = (
    "has no tokenizer: its files (tokenizer.json, or a vocabulary) are not in the folder; save it there with "
    "save_pretrained"
)
LONGEST = 300  # letters of an error of the library
# Mean and standard deviation of the channels.
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
OPENAI = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
RESIZE_THEN_CROP = ("CLIPImageProcessorPil", "SiglipImageProcessorPil", "VideoMAEImageProcessorPil")


def load_model(source: ModelSource, settings: LoadOptions, class_name: str | None = None) -> TorchModel:
    """The model in evaluation mode, on its device, in its dtype.

    `class_name`: the transformers class; AutoModel where not given. Raises UsageError: the library has no such class;
    VideoContrastError: the checkpoint lacks weights of its class. The library would draw them at random, and the scores
    would say nothing.
    """
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()  # ours says what takes long
    loader = getattr(transformers, class_name or "AutoModel", None)
    if loader is None:
        way = "it brings its own code" if "auto_map" in source.config else "or install a release that has it"
        raise UsageError(
            f"{source.name} is of the class {class_name}, which transformers {transformers.__version__} does not have; "
            f"leave --kind out, {way}"
        )
    placement = {"device_map": settings.device_map} if settings.device_map else {}
    with explained(source), older_code() if settings.trust_remote_code else nullcontext():
        arguments = {"dtype": getattr(torch, settings.dtype), **settings.from_here, **placement}
        result = loader.from_pretrained(source.path, output_loading_info=True, **arguments)
    # code of a repository may bring a `from_pretrained` of its own, which returns the model alone
    model, info = result if isinstance(result, tuple) else (result, {})
    absent = {*info.get("missing_keys", ()), *(name for name, *_ in info.get("mismatched_keys", ()))}
    if absent:
        few = ", ".join(sorted(absent)[:3]) + (" ..." if len(absent) > 3 else "")
        raise VideoContrastError(
            f"{source.name} lacks {len(absent)} weights of {type(model).__name__} ({few}), which would be random: "
            "it is another model's checkpoint or was not saved whole; save it again with save_pretrained"
        )
    if source.adapter is not None:
        model = merged(model, source.adapter)
    if not settings.device_map:
        with explained(source):
            model = model.to(settings.device)
    in_evaluation: TorchModel = model.eval()
    return in_evaluation


def load_processor(source: ModelSource, settings: LoadOptions, backend: str | None = "pil") -> Processor:
    """The processor, with the PIL backend (torchvision's differs by 1e-4 in cosine); None for video processors."""
    import transformers

    options = {"backend": backend} if backend else {}
    with explained(source), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        processor: Processor = transformers.AutoProcessor.from_pretrained(source.path, **settings.from_here, **options)
    return reading(source, processor)


def tokenizer_of(processor: Processor) -> Tokenizer:
    """The tokenizer of a processor; of text models it is the processor itself."""
    tokenizer: Tokenizer = processor.tokenizer if hasattr(processor, "tokenizer") else processor
    return tokenizer


def reading(source: ModelSource, processor: Processor) -> Processor:
    """The processor or tokenizer, if it knows a word at all: the library makes an empty one where files are missing.

    Raises VideoContrastError: every caption would be the same to it.
    """
    tokenizer = tokenizer_of(processor)
    if hasattr(tokenizer, "unk_token_id") and hasattr(tokenizer, "encode"):
        ids = tokenizer.encode("a man and a woman walk", add_special_tokens=False)
        if not set(ids) - {tokenizer.unk_token_id}:
            raise VideoContrastError(f"{source.name} {NO_TOKENIZER}")
    return processor


@contextmanager
def explained(source: ModelSource) -> Iterator[None]:
    """Turns the library's loading errors into one sentence."""
    try:
        yield
    except VideoContrastError:
        raise
    except ImportError as error:
        hint = how_to_install("vlm") if "orchvision" in str(error) else "install the package that it names"
        raise VideoContrastError(f"{source.name} needs a package that is not installed: {error}; {hint}") from error
    except pickle.UnpicklingError as error:
        raise VideoContrastError(
            f"{source.name} holds weights that only running code from the file would read (a pickle); save it as "
            "safetensors where you trust it: model.save_pretrained(folder)"
        ) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        if "trust_remote_code" in str(error):
            raise UsageError(
                f"{source.name} runs code from its own repository; read that code, then give --trust-remote-code"
            ) from error
        if "out of memory" in str(error).lower():
            raise VideoContrastError(
                f"{source.name} does not fit the memory of its device; give --device-map auto or --dtype bfloat16"
            ) from error
        raise VideoContrastError(f"{source.name} {_why_not(error)}{own_code(source.config)}") from error


def own_code(config: Mapping[str, Json]) -> str:
    """The advice where code of a repository fails; "" where there is none."""
    if not config.get("auto_map"):
        return ""
    import transformers

    return f" (its own code may be written for another release than transformers {transformers.__version__})"


def _why_not(error: Exception) -> str:
    """The gist of an error of the library, whose own runs over several sentences, and over lists of all models."""
    text = " ".join(str(error).split())
    if absent := re.match(r"Can't load (.+?) for .*directory containing an? (\S+) file", text):
        return f"has no {absent[1]}: save it into the folder too (processor.save_pretrained), which makes {absent[2]}"
    if "instantiate the backend tokenizer" in text:
        return NO_TOKENIZER
    if match := re.search(r"model type `(.+?)` but Transformers does not recognize", text):
        return f"is of the type {match[1]}, which the installed transformers does not know; a newer one may"
    if match := re.search(r"Unrecognized configuration class <class '.*?(\w+)'>", text):
        return f"is no model of this kind (its config is a {match[1]}); leave --kind out"
    return f"cannot be loaded: {text[:LONGEST]}{' ...' if len(text) > LONGEST else ''}"


def pooled(output: Tensor) -> Tensor:
    """The projected embedding of `get_*_features`: a tensor before transformers 5, `.pooler_output` since."""
    tensor = output if not hasattr(output, "pooler_output") else output.pooler_output
    return tensor.reshape(tensor.shape[0], -1) if tensor.ndim == 3 and tensor.shape[1] == 1 else tensor


def unit(rows: Tensor) -> Tensor:
    """Float32 rows of length 1. A zero row stays zero, and a NaN stays NaN (the engine refuses it)."""
    rows = rows.float()
    return rows / rows.norm(dim=-1, keepdim=True).clamp(min=1e-12)


def to_numpy(rows: Tensor) -> np.ndarray:
    """A tensor of any device as an array."""
    return np.asarray(rows.cpu())


class TorchEncoder(DualEncoder):
    """An encoder that is a module of torch; its rows may be on any device."""

    @abstractmethod
    def video_rows(self, prepared: Sequence[Prepared]) -> Tensor:
        """float[N, D] of a batch of what `prepare` returned."""

    @abstractmethod
    def text_rows(self, texts: Sequence[str]) -> Tensor:
        """float[M, E] of a batch of texts."""

    def encode_prepared(self, prepared: Sequence[Prepared]) -> np.ndarray:
        """`video_rows` as an array."""
        import torch

        with torch.inference_mode():
            return to_numpy(self.video_rows(prepared))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """`text_rows` as an array."""
        import torch

        with torch.inference_mode():
            return to_numpy(self.text_rows(texts))


def images_of(clip: ClipFrames | None) -> list[Any]:  # of Pillow
    """The frames as images; none without a clip."""
    from PIL import Image

    return [] if clip is None else [Image.fromarray(frame) for frame in clip.frames]


def normalised(pixels: np.ndarray, statistics: tuple[tuple[float, ...], tuple[float, ...]]) -> np.ndarray:
    """Pixels [T, 3, H, W] in 0..255 less the mean and by the deviation of their channels: float32."""
    mean, deviation = (np.array(numbers, np.float32).reshape(1, 3, 1, 1) for numbers in statistics)
    return np.asarray((pixels.astype(np.float32) / 255.0 - mean) / deviation, np.float32)


def pixels_of(image_processor: Processor, frames: np.ndarray) -> Arrays:
    """One clip through an image processor: arrays with a first axis of T."""
    images = [np.ascontiguousarray(frame) for frame in frames]
    as_is = {}
    if type(image_processor).__name__ in RESIZE_THEN_CROP:
        size = dict(image_processor.size)
        target = tuple(size.get(name) or size.get("shortest_edge") for name in ("height", "width"))
        crop = getattr(image_processor, "do_center_crop", None) and dict(image_processor.crop_size)
        # Frames of the size that they would be resized and cropped to would only be copied.
        if frames.shape[1:3] == target and (not crop or target == (crop["height"], crop["width"])):
            as_is = {"do_resize": False, "do_center_crop": False}
    batch = image_processor(images=images, return_tensors="np", input_data_format="channels_last", **as_is)
    return {name: np.asarray(value) for name, value in batch.items() if name.startswith(("pixel", "spatial"))}


def pixels_on_device(image_processor: Processor, frames: np.ndarray, device: object) -> Tensors:
    """Frames uint8[T, H, W, 3] through an image processor of torchvision's backend, resized on a device."""
    import torch

    planes = torch.from_numpy(np.ascontiguousarray(frames)).to(device).permute(0, 3, 1, 2)
    batch = image_processor(images=list(planes), return_tensors="pt", device=device)
    return {name: value for name, value in batch.items() if name.startswith(("pixel", "spatial"))}


def on_device(values: Mapping[str, Any], model: TorchModel) -> dict[str, Any]:  # and what else a processor returns
    """Arrays and tensors on the model's device, floats in its dtype; pinned on their way to a GPU, so none waits."""
    import torch

    on_model = {}
    for name, value in values.items():
        tensor = torch.from_numpy(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value
        if isinstance(tensor, torch.Tensor):
            if model.device.type == "cuda" and not tensor.is_cuda:
                tensor = tensor.pin_memory()
            tensor = tensor.to(model.device, non_blocking=True)
            tensor = tensor.to(model.dtype) if tensor.is_floating_point() else tensor
        on_model[name] = tensor
    return on_model


class Tokens:
    """Captions to token ids, at their true length where padding does not change the result.

    `padded_to`: pad all captions to this many tokens, as the model was trained; None where padding is no matter.
    `clean`: how the model's training captions were written; None leaves them as they are.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        config: Any,  # of transformers, or of a model's own code
        *,
        padded_to: int | None = None,
        clean: Callable[[str], str] | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        text = getattr(config, "text_config", None) or config
        siglip = getattr(config, "model_type", "") in SIGLIP
        self.padded = siglip or padded_to is not None
        self.clean = str.lower if siglip else clean  # its tokenizer lower-cases in some checkpoints, and not in others
        limits = [getattr(text, "max_position_embeddings", None), getattr(tokenizer, "model_max_length", None)]
        self.limit = min(int(limit) for limit in [*limits, padded_to, 512] if limit)  # that the text tower reads
        if "roberta" in getattr(text, "model_type", "") or getattr(config, "model_type", "") == "altclip":
            self.limit = min(self.limit, int(text.max_position_embeddings) - 2)  # positions begin after the padding's
        self.names = ("input_ids", *(() if siglip else ("attention_mask",)))
        if not self.padded:
            self.names += ("token_type_ids",)
            if type(config).__module__.startswith("transformers."):  # code of a repository may count on its own side
                pad_after(tokenizer)

    def __call__(self, texts: Sequence[str], device: object) -> Tensors:
        """Tensors for a batch of texts."""
        options = {"padding": "max_length" if self.padded else True, "truncation": True, "max_length": self.limit}
        tokens = self.tokenizer(self._cleaned(texts), return_tensors="pt", **options)
        return {name: tokens[name].to(device) for name in self.names if name in tokens}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, cut as the model reads them, without padding."""
        inputs = self._cleaned(texts)
        return list(self.tokenizer(inputs, truncation=True, max_length=self.limit)["input_ids"]) if inputs else []

    def rendered_input(self, texts: Sequence[str]) -> JsonObject:
        """The first text as the tokenizer returns it, and how many tokens each text has after padding and cutting."""
        ids = self(texts, "cpu")["input_ids"]
        return {"prompt": self.tokenizer.decode(ids[0]), "tokens": [len(row) for row in ids]}

    def longer(self, texts: Sequence[str]) -> int:
        """The number of texts that are longer than `limit`."""
        return count_longer(self.tokenizer, self._cleaned(texts), self.limit)

    def _cleaned(self, texts: Sequence[str]) -> list[str]:
        return [self.clean(text) for text in texts] if self.clean else list(texts)


def pad_after(tokenizer: Tokenizer) -> None:
    """Makes a tokenizer pad after a text, if need be with another token: the attention mask hides it.

    The library's text towers count positions from the left, so padding before a text would move it by what is in its
    batch.
    """
    tokenizer.padding_side = "right"
    if getattr(tokenizer, "pad_token", "") is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)


def count_longer(tokenizer: Tokenizer, texts: Sequence[str], limit: int) -> int:
    """The number of texts that make more than `limit` tokens. `limit`: how many tokens the model reads."""
    # a token is a character at least, but for bytes of others than ASCII and a few that stand around the text
    texts = [text for text in texts if len(text) + 8 > limit or not text.isascii()]
    blocks = [texts[begin : begin + 1024] for begin in range(0, len(texts), 1024)]
    return sum(len(ids) > limit for block in blocks for ids in tokenizer(block, verbose=False)["input_ids"])


LISTED = "all_tied_weights_keys"  # the attribute of a model of transformers 5 with the names of its tied weights


class _LeftOut:
    """The names of tied weights of a model that did not call `post_init`: it is called when they are asked for."""

    def __get__(self, model: TorchModel | None, owner: type) -> dict[str, str]:
        if model is None:
            raise AttributeError(LISTED)  # as of a class without it
        model.post_init()
        names: dict[str, str] = vars(model)[LISTED]
        return names


@contextmanager
def older_code() -> Iterator[None]:
    """Loads models whose code leaves out `post_init`, or lists tied weights without what they are tied to.

    Without it, transformers 5 stops at such code: "has no attribute 'all_tied_weights_keys'", "'list' object has no
    attribute 'keys'".
    """
    from transformers import PreTrainedModel

    original = PreTrainedModel.get_expanded_tied_weights_keys

    def expanded_with_sources(model: TorchModel, *args: bool, **options: bool) -> dict[str, str]:
        if isinstance(model._tied_weights_keys, list | tuple):  # tied to the input embeddings
            embeddings = getattr(model.get_input_embeddings(), "weight", None)
            source = next((name for name, weight in model.named_parameters() if weight is embeddings), None)
            model._tied_weights_keys = {name: source for name in model._tied_weights_keys if source not in (None, name)}
        return dict(original(model, *args, **options))

    PreTrainedModel.get_expanded_tied_weights_keys = expanded_with_sources
    setattr(PreTrainedModel, LISTED, _LeftOut())
    try:
        yield
    finally:
        PreTrainedModel.get_expanded_tied_weights_keys = original
        delattr(PreTrainedModel, LISTED)


def takes_rate(processor: Processor | None) -> bool:
    """Whether a processor takes the rate as `fps`, not from metadata (Qwen-Omni), and else believes in two a second."""
    return hasattr(processor, "position_id_per_seconds")


# How processors write times: Qwen3-VL and its like, VideoLLaMA 3, GLM-4.1V and 4.6V (after the frames), Molmo 2,
# SmolVLM and Gemma 4 (minutes and whole seconds).
WRITTEN = (
    r"<(\d+(?:\.\d+)?) seconds>",
    r"Time (\d+(?:\.\d+)?)s:",
    r"<\|end_of_image\|>(\d+(?:\.\d+)?)",
    r"(\d+\.\d) ?<frame_start>",
    r"(?<![\d:])(\d\d):(\d\d)(?!\d)",
)
# Seconds of a temporal patch, of models that know times by their positions.
SPACED = ("second_per_grid_ts", "video_second_per_grid")


def times_in_prompt(prompt: str, inputs: Mapping[str, Tensor]) -> list[float]:
    """The times that a model is told of a clip, one a frame or a temporal patch; [] where it is told none.

    `prompt`: as the model reads it, up to the end of the clip.

    >>> times_in_prompt("<0.3 seconds><|video_pad|><1.1 seconds><|video_pad|>", {})
    [0.3, 1.1]
    >>> times_in_prompt("Frame from 00:59:<image>Frame from 01:01:<image>", {})
    [59.0, 61.0]
    """
    for name in SPACED:
        if name in inputs:
            count, seconds = int(inputs["video_grid_thw"][0][0]), float(inputs[name][0])
            return [n * seconds for n in range(count)]
    for pattern in WRITTEN:
        if marks := list(re.finditer(pattern, prompt)):
            return [60.0 * float(mark[1]) + float(mark[2]) if mark.re.groups > 1 else float(mark[1]) for mark in marks]
    return []


def metadata_of(clip: ClipFrames) -> dict[str, Any]:  # of several types
    """The `VideoMetadata` of a clip for processors of transformers: `len(frames)` frames, each at its own time.

    fps is the rate at which the clip was sampled: frames by the length of the clip, as in qwen-vl-utils; by their mean
    spacing where the length is not known. A frame's number is its time in units of 1 / fps, so number / fps is the time
    (a float number where the first frame is not at 0).
    """
    count, height, width = clip.frames.shape[:3]
    times = clip.times if len(clip.times) == count else tuple(float(n) for n in range(count))
    spacing = clip.seconds / count or (float(np.mean(np.diff(times))) if count > 1 else 0.0)
    fps = 1.0 / spacing if spacing > 0 else 1.0
    return {
        "total_num_frames": count,
        "fps": fps,
        "frames_indices": [time * fps for time in times],
        "height": height,
        "width": width,
        "duration": count / fps,
    }
