"""Models that are asked in words and write their answer: letters, or yes and no, are read from what they generate.

One loader for video language models with code of their own, by the interface that their code has (`INTERFACES`), or by
their processor; it also takes classes of transformers, by their chat template.

The log-probabilities of an answer are those with which the model's output layer generates it, whoever calls that layer;
where no output layer is found, its words alone are read.
"""

import inspect
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from video_contrast.chat_model import Answer
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.question_text import Question
from video_contrast.runner.kinds import loading, prompts
from video_contrast.runner.kinds.base import AskedScorer, ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import ChatPrompts, FramesAs, broken_up, control_tokens
from video_contrast.runner.kinds.model_recipes import types_in
from video_contrast.untyped import Processor, Tensor, Tokenizer, TorchModel
from video_contrast.video import write_video

SIDE = 448  # pixels, where the config names no size
MEDIA = ("<image>", "<video>", "<|image|>", "<|video|>")  # marks in whose place frames go
ALTERNATIVES = 20  # of a token that are kept, beside the answers that were asked for
# Classes by which a repository's code is loaded, those that generate first; AutoModelForMultimodalLM is the library's.
LOADERS = ("AutoModelForImageTextToText", "AutoModelForVision2Seq", "AutoModelForCausalLM", "AutoModel")


@dataclass(frozen=True)
class GeneratedOptions(prompts.AskOptions):
    """The options of asking about captions."""

    scoring: Annotated[Literal["letter", "yesno"], "How a caption is scored."] = "letter"
    max_new_tokens: Annotated[int, "Tokens of an answer; more for a model that thinks first."] = 16
    frames_as: Annotated[FramesAs, "How frames go into a chat template."] = "auto"


def squares(frames: np.ndarray, side: int) -> np.ndarray:
    """Squares, bicubic, ImageNet's mean and deviation (InternVL's `load_video`): float32[T, 3, side, side]."""
    from PIL import Image

    images = [Image.fromarray(frame).resize((side, side), Image.Resampling.BICUBIC) for frame in frames]
    pixels = np.stack([np.asarray(image) for image in images]).transpose(0, 3, 1, 2)
    return loading.normalised(np.ascontiguousarray(pixels), loading.IMAGENET)


def _chat_of_squares(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    import torch

    if clip is None:
        return scorer.model.chat(scorer.tokenizer, None, question, scorer.generation)
    config = scorer.model.config
    vision = getattr(config, "vision_config", None)
    sides = (getattr(config, "force_image_size", None), getattr(vision, "image_size", None))
    side = next((int(each) for each in sides if each), SIDE)
    pixels = torch.from_numpy(squares(clip.frames, side)).to(scorer.model.device, scorer.model.dtype)
    lines = "".join(f"Frame{n}: <image>\n" for n in range(1, len(clip.frames) + 1))
    patches = [1] * len(clip.frames)
    return scorer.model.chat(scorer.tokenizer, pixels, lines + question, scorer.generation, num_patches_list=patches)


def _chat_of_messages(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    names = inspect.signature(scorer.model.chat).parameters
    settings: dict[str, Any] = {
        "image": None, "tokenizer": scorer.tokenizer, "sampling": False, "use_image_id": False, "max_slice_nums": 1,
        "max_new_tokens": scorer.options.max_new_tokens,
    }  # fmt: skip
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values())
    arguments = {name: value for name, value in settings.items() if name in names or (takes_all and name != "image")}
    return scorer.model.chat(msgs=[{"role": "user", "content": [*loading.images_of(clip), question]}], **arguments)


def _chat_of_file(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    """A file of the sampled frames and no others, as long as the clip: its own sampling finds these alone."""
    if clip is None:
        raise UsageError(f"{type(scorer.model).__name__} is asked with a file only, never without a video")
    count = len(clip.frames)
    rate = count / clip.seconds if clip.seconds else 1.0
    options = {"max_num_frames": count, "generation_config": scorer.generation, "return_history": False}
    with tempfile.TemporaryDirectory() as folder:
        path = write_video(Path(folder) / "clip.mp4", clip.frames, rate, quality="lossless")
        settings = scorer.arguments("chat", {**options, "media_dict": {"video_read_type": "decord"}})
        return scorer.model.chat(video_path=str(path), tokenizer=scorer.tokenizer, user_prompt=question, **settings)


def _inputs_of_messages(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    video = [{"type": "video", "video": loading.images_of(clip)}] if clip is not None else []
    messages = [{"role": "user", "content": [*video, {"type": "text", "text": question}]}]
    settings = scorer.arguments("preprocess_inputs", {"add_generation_prompt": True, "enable_thinking": False})
    values = scorer.model.preprocess_inputs(messages=messages, **settings)
    inputs = dict(zip(("inputs", "pixel_values", "grid_thws"), values, strict=True))
    return scorer.generated(loading.on_device(inputs, scorer.model))


def _inputs_of_images(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    import torch

    images = loading.images_of(clip)
    query = "".join("<image>\n" for _ in images) + question
    arguments = scorer.arguments("preprocess_inputs", {"max_partition": 1})
    values = scorer.model.preprocess_inputs(query, images, **arguments)
    names = ("input_ids", "pixel_values", "grid_thws")
    inputs = loading.on_device(dict(zip(names, values[1:], strict=False)), scorer.model)
    inputs["input_ids"] = inputs["input_ids"][None]
    inputs["attention_mask"] = torch.ne(inputs["input_ids"], scorer.tokenizer.pad_token_id)
    if "grid_thws" not in inputs:  # one entry a conversation, before images of any size went into one tensor
        inputs["pixel_values"] = [inputs["pixel_values"]]
    return scorer.generated({"inputs": inputs.pop("input_ids"), **inputs})


def _processor_of_model(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    content = question if clip is None else f"<|video|>\n{question}"
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": ""}]
    processor = scorer.model.init_processor(scorer.tokenizer)
    inputs = processor(messages, images=None, videos=None if clip is None else [loading.images_of(clip)])
    more = {"tokenizer": scorer.tokenizer, "decode_text": True}
    return scorer.model.generate(**loading.on_device(inputs, scorer.model), **more, **scorer.generation)[0]


def _processor_of_conversation(scorer: "GeneratedScorer", clip: ClipFrames | None, question: str) -> object:
    video = []
    if clip is not None:
        facts = {"num_frames": len(clip.frames), "timestamps": [float(time) for time in clip.times]}
        video = [{"type": "video", "video": loading.images_of(clip), **facts}]
    conversation = [{"role": "user", "content": [*video, {"type": "text", "text": question}]}]
    assert scorer.processor is not None  # that of VideoLLaMA 3, Penguin-VL
    inputs = scorer.processor(conversation=conversation, return_tensors="pt", add_generation_prompt=True)
    return scorer.generated(loading.on_device(inputs, scorer.model))


Ask = Callable[["GeneratedScorer", ClipFrames | None, str], object]
# Method, what it takes, and how it is asked: the first that a model has is taken.
INTERFACES: tuple[tuple[str, frozenset[str], Ask], ...] = (
    ("chat", frozenset({"pixel_values", "question"}), _chat_of_squares),  # InternVL 2 to 3.5, InternVideo2.5, SAIL-VL
    ("chat", frozenset({"msgs"}), _chat_of_messages),  # MiniCPM-V 2.6 to 4.5, MiniCPM-o
    ("chat", frozenset({"video_path", "user_prompt"}), _chat_of_file),  # VideoChat-Flash
    ("preprocess_inputs", frozenset({"messages"}), _inputs_of_messages),  # Ovis2.5
    ("preprocess_inputs", frozenset({"images"}), _inputs_of_images),  # Ovis2, Ovis-U1
    ("init_processor", frozenset({"tokenizer"}), _processor_of_model),  # mPLUG-Owl3
)


def interface_of(model: TorchModel) -> tuple[str, Ask] | None:
    """The interface of a model's own code, in words, and how it is asked; None where it has none that is known."""
    for method, takes, ask in INTERFACES:
        call = getattr(model, method, None)
        parameters = inspect.signature(call).parameters if call is not None else {}
        # `context` is asked of one image a conversation by MiniCPM-V 2.0, whose message is a string
        needs_more = any(name == "context" and each.default is each.empty for name, each in parameters.items())
        if takes <= set(parameters) and not needs_more:
            return f"{method}({', '.join(sorted(takes))})", ask
    return None


class GeneratedScorer(AskedScorer):
    """Scores captions of one clip by the answers that a model generates.

    `processor`: of models whose code has no interface of its own (`interface_of`); their clips go through it.

    Raises VideoContrastError: there is neither such an interface nor a chat template.
    """

    def __init__(
        self, model: TorchModel, tokenizer: Tokenizer, processor: Processor | None, options: GeneratedOptions
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.processor = processor
        self.options = options
        self.together = options.scoring == "letter"
        self.question = ""
        self.templates: ChatPrompts | None = None  # of models that are asked through a chat template
        self.interface, self._ask = interface_of(model) or self._of_processor(model, processor)
        self._reserved = control_tokens(tokenizer, MEDIA)
        self._head = output_layer(model)
        self.in_steps = self._head is None

    @property
    def generation(self) -> dict[str, Any]:
        """Greedy, and short."""
        return {"max_new_tokens": self.options.max_new_tokens, "do_sample": False}

    def arguments(self, method: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that a method of the model names."""
        names = inspect.signature(getattr(self.model, method)).parameters
        return {name: value for name, value in values.items() if name in names}

    def generated(self, inputs: Mapping[str, Any]) -> str:
        """The token ids that the model's `generate` adds to a prompt; some return the prompt with it."""
        output = self.model.generate(**inputs, **self.generation)[0]
        ids: list[int] = output.tolist()
        prompt: list[int] = next((inputs[name][0].tolist() for name in ("input_ids", "inputs") if name in inputs), [])
        new_ids = ids[len(prompt) :] if ids[: len(prompt)] == prompt else ids
        return str(self.tokenizer.decode(new_ids, skip_special_tokens=True))

    def _of_processor(self, model: TorchModel, processor: Processor | None) -> tuple[str, Ask]:
        if processor is None or not hasattr(model, "generate"):
            chat = getattr(model, "chat", None)
            has = f"has chat({', '.join(inspect.signature(chat).parameters)})" if chat is not None else "has no chat"
            names = "; ".join(f"{method}({', '.join(sorted(takes))})" for method, takes, _ in INTERFACES)
            raise VideoContrastError(f"{type(model).__name__} {has}: known are {names}, and processors with a template")
        if "conversation" in inspect.signature(processor.__call__).parameters:
            return "processor(conversation)", _processor_of_conversation
        templates = self.templates = ChatPrompts(model, processor, frames_as=self.options.frames_as)

        def ask(_: GeneratedScorer, clip: ClipFrames | None, question: str) -> object:
            return self.generated(templates.prompt(clip, question).inputs)

        return f"chat template, frames as {templates.frames_as}", ask

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores of captions by the generated answers; NaN where an answer names none of what was asked for."""

        def read(questions: list[str], names: Sequence[str], options: prompts.OptionTexts) -> list[np.ndarray | None]:
            self.question = self.question or questions[0]
            answers = [self._answer(clip, text, names) for text in questions]
            self.in_steps = self.in_steps or any(answer["alternatives"] is None for answer in answers)
            return prompts.read_answers(answers, names, options)[0]

        return prompts.scores_by_answers(captions, self.options, read, position=position, question=question)

    def _answer(self, clip: ClipFrames | None, question: str, names: Sequence[str]) -> Answer:
        """The generated text, and the log-probabilities of its tokens."""
        import torch

        # Greedy, and with a seed all the same: a model may denoise, or a repository's code draw.
        with torch.inference_mode(), torch.random.fork_rng(), last_token_logits(self._head) as logits:
            torch.manual_seed(self.options.option_seed)
            try:
                answer = self._ask(self, clip, broken_up(question, self._reserved))
            except (AttributeError, TypeError, KeyError, IndexError, AssertionError, ImportError) as error:
                raise VideoContrastError(
                    f"{type(self.model).__name__}, asked by {self.interface}: {type(error).__name__}: {error}"
                    f"{loading.own_code(vars(self.model.config))}"
                ) from error
        text = str(answer[0] if isinstance(answer, tuple | list) else answer)
        return Answer(text=text, alternatives=self._alternatives(text, logits, names))

    def _alternatives(
        self, text: str, logits: Sequence[Tensor], names: Sequence[str]
    ) -> list[list[tuple[str, float]]] | None:
        """The likeliest tokens at each place and those asked for; None where the likeliest are not the text."""
        tokenizer = self.tokenizer
        likeliest = tokenizer.decode([int(row.argmax()) for row in logits], skip_special_tokens=True)
        if not logits or text.strip() not in likeliest:
            return None
        forms = [form for name in names for form in prompts.FORMS.get(name, (name, f" {name}"))]
        token_ids = [tokenizer.encode(form, add_special_tokens=False) for form in forms]
        single = [ids[0] for ids in token_ids if len(ids) == 1]
        steps = []
        for row in logits:
            log = row.log_softmax(-1)
            ids = dict.fromkeys([*log.topk(min(ALTERNATIVES, len(log))).indices.tolist(), *single])
            steps.append([(str(tokenizer.decode([token])), float(log[token])) for token in ids])
        return steps

    @property
    def facts(self) -> JsonObject:
        """The class that ran, how it was asked, and the first question."""
        return {
            "class": type(self.model).__name__,
            "interface": self.interface,
            "scoring": self.options.scoring,
            "rotations": self.options.rotations,
            "answers": "generated words" if self.in_steps else "log-probabilities of generated tokens",
            "prompt": self.question,
        }

    def rendered_input(
        self, clip: ClipFrames, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> JsonObject:
        """The interface and the first question about the captions; of a chat template the prompt, tokens and pixels."""
        first_question = prompts.questions_about(captions, self.options, position=position, question=question)[0]
        entry = super().rendered_input(clip, captions) | {"interface": self.interface, "prompt": first_question}
        if self.templates is None:
            return entry
        prompt = self.templates.prompt(clip, broken_up(first_question, self._reserved))
        return entry | {"prompt": prompt.text, "tokens": len(prompt.ids), "pixels": prompt.shapes}


def output_layer(model: TorchModel) -> Any:  # a torch module
    """The layer that makes logits, of the model or of the language model inside it; None where none is found."""
    for module in model.modules():
        if hasattr(module, "get_output_embeddings"):
            try:
                head = module.get_output_embeddings()
            except (AttributeError, NotImplementedError):  # code of a repository that left it out
                continue
            if head is not None:
                return head
    return None


@contextmanager
def last_token_logits(head: Any) -> Iterator[list[Tensor]]:  # a torch module, or None
    """The logits of the last token of each call of an output layer, float32[V]; none of None."""
    logits: list[Tensor] = []
    hook: Any = nullcontext()
    if head is not None:
        hook = head.register_forward_hook(lambda _, inputs, output: logits.append(output[0, -1].float().clone()))
    with hook:  # which is removed in the end
        yield logits


@kind(
    "generated",
    family="pair",
    summary="letters, or yes and no, by generation: video language models with code of their own, and others",
    requirements="--trust-remote-code for a repository's code, and what that needs",
    model_types=types_in("generated"),
    asks=True,
    options=GeneratedOptions,
)
def load(source: ModelSource, settings: LoadOptions) -> GeneratedScorer:
    """Loads the model, and its tokenizer or processor. Raises UsageError: code of its own is not trusted."""
    import transformers

    own = source.config.get("auto_map") or {}
    if own and not settings.trust_remote_code:
        raise UsageError(
            f"{source.name} runs code from its own repository; read that code, then give --trust-remote-code"
        )
    options = GeneratedOptions(**settings.options)
    class_name = next((name for name in LOADERS if name in own and hasattr(transformers, name)), None)
    model = loading.load_model(source, settings, class_name or "AutoModelForMultimodalLM")
    if interface_of(model) is None and hasattr(model, "generate"):
        processor = loading.load_processor(source, settings, None)
        return GeneratedScorer(model, loading.tokenizer_of(processor), processor, options)
    with loading.explained(source):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, **settings.from_here)
    return GeneratedScorer(model, tokenizer, None, options)
