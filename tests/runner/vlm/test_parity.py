"""Parity with model cards, of the classes that need torchvision: the card's own lines give the same scores to 1e-5."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import parity
import pytest
import tiny_models
import tiny_sentence
import torch
from PIL import Image
from tiny_matching import MATCHING

from video_contrast.runner.device import recipe_of
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions, PairScorer
from video_contrast.runner.kinds.prompts import FORMS, YESNO
from video_contrast.runner.kinds.video_dual import canonical
from video_contrast.runner.model_files import locate

CAPTIONS = ["a man sits down", "A woman runs away quickly", "dogs"]
GENERATIVE = [
    "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "llava_onevision", "llava_next_video", "internvl", "smolvlm", "gemma3",
    "qwen3_5", "lfm2_vl", "qwen2_5_omni", "gemma4", "glm4v", "glm46v", "molmo2", "minicpmv4_6",
]  # fmt: skip
# Of MiniCPM-V 4.6, as its README passes them with a video.
CARDS: dict[str, dict[str, Any]] = {"minicpmv4_6": {"max_slice_nums": 1, "use_image_id": False}}
RATE = 24.0  # of the file that the clip's frames were taken from, two a second


def load(folder: Path) -> Any:
    source = locate(str(folder))
    kind = choose(source)
    recipe = recipe_of(source, kind.name)
    assert recipe is not None and recipe.parity == "tests/runner/vlm/test_parity.py"
    return kind.load(source, LoadOptions(options=options_for(kind, {})))


@pytest.mark.parametrize("name", GENERATIVE)
def test_generative_models(name: str, tiny_vlm: Callable[[str], Path], clip: ClipFrames) -> None:
    import transformers
    from transformers import AutoProcessor
    from transformers.video_utils import VideoMetadata

    folder = tiny_vlm(name)
    omni = name == "qwen2_5_omni"  # its processor takes the rate by another way than the metadata
    clip = ClipFrames(clip.frames, (0.0, 0.25, 0.5, 0.75)) if omni else clip
    loader = "Qwen2_5OmniThinkerForConditionalGeneration" if omni else "AutoModelForMultimodalLM"
    model = getattr(transformers, loader).from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder)
    images = [Image.fromarray(frame) for frame in clip.frames] if name in ("gemma3", "lfm2_vl") else []
    seen: list[dict[str, Any]] = [{"type": "image", "image": image} for image in images] or [{"type": "video"}]
    numbers = [round(time * RATE) for time in clip.times]
    metadata = VideoMetadata(
        total_num_frames=numbers[-1] + 12, fps=RATE, frames_indices=numbers, duration=(numbers[-1] + 12) / RATE
    )
    scores = []
    for caption in CAPTIONS:
        question = YESNO.format(caption=caption)
        messages = [{"role": "user", "content": [*seen, {"type": "text", "text": question}]}]
        text = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        given: dict[str, Any] = (
            {"images": images}
            if images
            else {"videos": [clip.frames], "video_metadata": [metadata], "do_sample_frames": False}
        )
        given |= {"fps": 4.0} if omni else CARDS.get(name, {})
        inputs = processor(text=[text], return_tensors="pt", **given)
        with torch.no_grad():
            probabilities = model(**inputs).logits[0, -1].double().softmax(-1)
        split = {form: processor.tokenizer.encode(form, add_special_tokens=False) for form in sum(FORMS.values(), ())}
        yes, no = (
            sum(probabilities[token] for token in {split[form][0] for form in forms if len(split[form]) == 1})
            for forms in FORMS.values()
        )
        scores.append(float(yes / (yes + no)))
    scorer = load(folder)
    assert isinstance(scorer, PairScorer)
    parity.close(name, scorer.score(clip, CAPTIONS).scores, np.array(scores))


@pytest.mark.parametrize("name", ["qwen3_vl", "gemma4", "glm4v", "glm46v", "molmo2", "minicpmv4_6"])
def test_inputs_are_those_of_the_librarys_own_route(
    name: str, tiny_vlm: Callable[[str], Path], clip: ClipFrames
) -> None:
    """Token ids and pixels as of `apply_chat_template`, and the log-probabilities of a caption after them."""
    from transformers import AutoModelForMultimodalLM, AutoProcessor

    processor = AutoProcessor.from_pretrained(tiny_vlm(name))
    question = YESNO.format(caption=CAPTIONS[0])
    messages = [
        {"role": "user", "content": [{"type": "video", "video": clip.frames}, {"type": "text", "text": question}]}
    ]
    metadata = {"total_num_frames": 48, "fps": RATE, "frames_indices": [round(time * RATE) for time in clip.times]}
    official = processor.apply_chat_template(
        messages, tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt",
        do_sample_frames=False, video_metadata=[metadata], **CARDS.get(name, {}),
    )  # fmt: skip
    scorer = load(tiny_vlm(name))
    prompt = scorer.chat.prompt(clip, question)
    assert prompt.inputs.keys() == official.keys()
    for field, value in official.items():
        assert torch.equal(prompt.inputs[field], torch.as_tensor(value)), field
    if name == "qwen3_vl":  # the template's outer pair of marks around the timed blocks (transformers 5.10 on)
        marks = prompt.ids.count(processor.tokenizer.convert_tokens_to_ids("<|vision_start|>"))
        assert marks == int(official["video_grid_thw"][0, 0]) + 1

    model = AutoModelForMultimodalLM.from_pretrained(tiny_vlm(name)).eval()
    answer = processor.tokenizer(CAPTIONS[1], add_special_tokens=False, return_tensors="pt")["input_ids"]
    whole = dict(official)
    for field, added in (("input_ids", answer), *((f, torch.zeros_like(answer)) for f in ("mm_token_type_ids",))):
        if field in whole:
            whole[field] = torch.cat([whole[field], added], 1)
    whole["attention_mask"] = torch.ones_like(whole["input_ids"])
    with torch.no_grad():
        logs = model(**whole).logits[0, -answer.shape[1] - 1 : -1].double().log_softmax(-1)
    [(ours, _)] = scorer._caption_logs(clip, [CAPTIONS[1]], question)
    assert ours == pytest.approx(float(logs.gather(1, answer[0][:, None]).sum()), abs=1e-3)


def test_qwen2_5_vl_is_given_the_seconds_of_a_patch_as_its_owners_code_has_them(
    tiny_vlm: Callable[[str], Path], clip: ClipFrames
) -> None:
    """8 of the 12 frames of 1.5 seconds: 2 frames a patch at 8 / 1.5 a second, not at the mean spacing of the 8."""
    times = tuple(int((n + 0.5) * 12 / 8) / 8 for n in range(8))
    shown = ClipFrames(np.concatenate([clip.frames, clip.frames]), times, seconds=1.5)
    given = load(tiny_vlm("qwen2_5_vl")).chat.prompt(shown, "?").inputs["second_per_grid_ts"]
    assert [float(seconds) for seconds in given] == [pytest.approx(0.375)]


def test_frames_are_no_larger_than_in_training(tiny_vlm: Callable[[str], Path], clip: ClipFrames) -> None:
    """The limit of qwen-vl-utils on the pixels of each frame, which the library leaves to the caller."""
    scorer = load(tiny_vlm("qwen3_vl"))
    videos = scorer.chat.processor.video_processor
    videos.size = {"shortest_edge": 32 * 32, "longest_edge": 1 << 20}
    videos.max_video_tokens = 2  # a frame, of 32 x 32 pixels each
    height, width = scorer.chat.prompt(clip, "?").inputs["video_grid_thw"][0, 1:].tolist()
    assert height * width * 16 * 16 <= 2 * 32 * 32 < 60 * 80


def test_frames_have_the_size_of_videos_where_a_checkpoint_holds_that_of_images(
    tiny_vlm: Callable[[str], Path], clip: ClipFrames
) -> None:
    """qwen-vl-utils enlarges frames of 320 x 240 to 128 tokens; the saved limits of images would leave them small."""
    scorer = load(tiny_vlm("qwen2_5_vl"))
    scorer.chat.processor.video_processor.size = {"shortest_edge": 56 * 56, "longest_edge": 16384 * 28 * 28}
    frames = np.zeros((2, 240, 320, 3), np.uint8)
    height, width = scorer.chat.prompt(ClipFrames(frames, (0.0, 0.5)), "?").inputs["video_grid_thw"][0, 1:].tolist()
    # smart_resize of qwen-vl-utils: both sides times the root of 128 * 28 * 28 / (240 * 320), up to whole 28s
    assert (height * 14, width * 14) == (28 * 10, 28 * 14)


@pytest.mark.parametrize("name", MATCHING)
def test_matching_heads(name: str, tiny_vlm: Callable[[str], Path], clip: ClipFrames) -> None:
    import transformers

    folder = tiny_vlm(name)
    model = getattr(transformers, name).from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
    more = {"Blip2ForImageTextRetrieval": {"use_image_text_matching_head": True}}.get(name, {})
    card = np.zeros((len(clip.frames), len(CAPTIONS)))
    for t, frame in enumerate(clip.frames):
        for k, caption in enumerate(CAPTIONS):
            inputs = processor(images=Image.fromarray(frame), text=caption, return_tensors="pt")
            inputs.pop("token_type_ids", None)
            torch.manual_seed(0)
            with torch.no_grad():
                output = model(**inputs, **more)
            logits = output.itm_score if "itm_score" in output else output.get("logits", output.get("logits_per_image"))
            card[t, k] = float(logits.softmax(-1)[0, 1] if logits.shape[-1] == 2 else logits.sigmoid()[0, 0])
    parity.close(name, load(folder).score(clip, CAPTIONS).scores, card.mean(0))


def encoded(folder: Path, clips: list[ClipFrames]) -> np.ndarray:
    model = load(folder)
    assert isinstance(model, Encoder)
    return model.join(model.encode_prepared([model.prepare(one) for one in clips]), model.encode_texts(CAPTIONS))


@pytest.mark.parametrize("name", ["videoprism", "pe_video", "pe_audio_video"])
def test_video_text_encoders(name: str, tmp_path: Path, clip: ClipFrames) -> None:
    if name != "videoprism":
        pytest.importorskip("timm", reason="the Perception Encoders need timm")
    folder = getattr(tiny_models, name)(tmp_path / name)
    clips = [clip, ClipFrames(255 - clip.frames, clip.times)]
    found = encoded(folder, clips)
    from transformers import AutoModel, AutoProcessor

    model, processor = AutoModel.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)
    videos = processor(videos=[one.frames for one in clips], do_sample_frames=False, return_tensors="pt")
    if name == "videoprism":
        texts = processor.tokenizer(
            [canonical(caption) for caption in CAPTIONS], padding="max_length", truncation=True,
            max_length=model.config.text_config.max_position_embeddings, return_tensors="pt",
        )  # fmt: skip
        texts.pop("token_type_ids", None)
        with torch.no_grad():
            output = model(pixel_values_videos=videos["pixel_values_videos"], **texts)
        normal = torch.nn.functional.normalize
        card = normal(output.video_embeds, dim=-1) @ normal(output.text_embeds, dim=-1).T
    else:
        texts = processor.tokenizer(CAPTIONS, padding=True, return_tensors="pt")
        texts.pop("token_type_ids", None)
        inner = getattr(model, "video_model", model)
        torch.nn.init.ones_(inner.text_video_logit_scale)
        torch.nn.init.zeros_(inner.text_video_logit_bias)
        with torch.no_grad():
            card = inner(pixel_values_videos=videos["pixel_values_videos"], **texts).logits_video_text
    scale = float(np.abs(card.numpy()).max())  # plain products have no fixed size
    parity.close(name, found / scale, card.numpy() / scale)


def test_rerankers(tiny_vlm: Callable[[str], Path], tmp_path: Path, clip: ClipFrames) -> None:
    from sentence_transformers import CrossEncoder

    path = tiny_sentence.reranker(tmp_path / "model", tiny_vlm("qwen2_5_vl"))
    card = CrossEncoder(str(path), device="cpu")
    metadata = {"total_num_frames": 48, "fps": RATE, "frames_indices": [round(t * RATE) for t in clip.times]}
    videos = {"do_sample_frames": False, "video_metadata": [metadata]}
    scores = [
        float(card.predict([({"text": c}, {"video": clip.frames})], processing_kwargs={"video": videos})[0])
        for c in CAPTIONS
    ]
    parity.close("CrossEncoder", load(path).score(clip, CAPTIONS).scores, np.array(scores))


def test_multi_vector_encoders(tiny_vlm: Callable[[str], Path], tmp_path: Path, clip: ClipFrames) -> None:
    from sentence_transformers import MultiVectorEncoder

    clips = [clip, ClipFrames(255 - clip.frames[:, :40], clip.times)]
    for name, times, takes_video in (("qwen3_vl", clip.times, True), ("lfm2_vl", (), False)):
        path = tiny_sentence.multi_vector(tmp_path / name, tiny_vlm(name))
        card = MultiVectorEncoder(str(path), device="cpu")
        if takes_video:
            metadata = {"total_num_frames": 48, "fps": RATE, "frames_indices": [round(t * RATE) for t in times]}
            videos = [{"array": one.frames, "video_metadata": metadata} for one in clips]
            documents = card.encode_document(videos, processing_kwargs={"video": {"do_sample_frames": False}})
        else:
            pages = [card.encode_document([Image.fromarray(frame) for frame in one.frames]) for one in clips]
            documents = [torch.cat(of_clip) for of_clip in pages]
        scores = card.similarity(card.encode_query(CAPTIONS), documents).T
        parity.close(f"MultiVectorEncoder of {name}", encoded(path, clips), scores.numpy())
