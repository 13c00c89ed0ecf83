"""Which generative classes of the installed transformers can be scored: tested, expected to work, or not, and why.

Types that nobody has classified are an error of the test that walks the library's mapping, so a newer library cannot
bring classes that go unnoticed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from video_contrast.runner.kinds.recipes.readers import GENERATIVE

State = Literal["tested", "expected", "cannot"]


class Coverage(NamedTuple):
    """Whether a type can be scored.

    Attributes:
        state: "tested" (parity with its card's own lines), "expected" (its processor takes clips or several images;
            the self-test decides), "cannot".
        why: in a few words.
    """

    state: State
    why: str


_TESTED = {name for recipe in GENERATIVE if recipe.parity for name in recipe.model_types}
VIDEO = (
    "cohere_compass", "cosmos3_edge", "dots3_note", "ernie4_5_vl_moe", "exaone4_5", "gemma4", "gemma4_unified",
    "glm46v", "glm4v", "glm4v_moe", "glm5_next", "glmga", "hyperclovax_vision_v2", "kimi_k25", "lfm3_vl",
    "minicpmv4_6", "minicpmv4_7", "minimax_m3_vl", "molmo2", "muse_glimmer", "muse_spark", "nemotron_h_omni",
    "perception_lm", "qwen3_5_moe", "qwen3_omni_moe", "qwen3_omni_moe_thinker", "qwen3_vl_moe",
    "qwen4_exp", "video_llama_3", "video_llava",
)  # fmt: skip
IMAGES = (
    "aria", "aya_vision", "cohere2_vision", "deepseek_vl", "deepseek_vl_hybrid", "fast_vlm", "gemma3n",
    "granite4_vision", "hunyuan_vl", "idefics2", "idefics3", "inkling2", "inkling_mm_model", "llama4",
    "llava", "llava_next", "mistral3", "mistral_large4", "ovis2", "paligemma", "step3p7", "vipllava",
)  # fmt: skip
_CANNOT = {
    "reads documents, not scenes": (
        "deepseek_ocr2", "florence2", "glm_ocr", "got_ocr2", "granite_docling", "kosmos-2.5", "lighton_ocr",
        "minicpm_ocr", "paddleocr_vl", "pix2struct", "pp_chart2table", "pp_formulanet", "qianfan_ocr", "udop",
        "unlimited_ocr",
    ),
    "hears, and sees nothing": (
        "fun_asr_nano", "glmasr", "granite_speech", "granite_speech_plus", "kyutai_speech_to_text",
        "moss_transcribe_diarize", "nemo_speechlm", "qwen2_audio", "qwen3_asr", "vibevoice_asr", "voxtral",
        "voxtral_realtime",
    ),
    "captions one image and has no chat template": (
        "blip", "blip-2", "git", "kosmos-2", "vision-encoder-decoder", "fuyu", "idefics", "t5gemma2",
    ),
    "has no chat template; its query transformer reads the question beside the frames": (
        "instructblip", "instructblipvideo",
    ),
    "its images stand inside of cross-attention: a prompt without one cannot be scored": ("mllama",),
    "its images are tokens of a codebook, one image at a time": ("chameleon", "emu3", "janus"),
    "denoises its answer in blocks, so no next token has a probability": ("diffusion_gemma",),
    "answers in actions, proteins or judgements": ("pi0", "evolla", "shieldgemma2"),
    "is the whole of a speaking model, without a forward pass": ("cosmos3_omni",),
    "its prompt numbers its images, which its chat template does not": ("phi4_multimodal",),
    "is the text part of another model": ("mistral4",),
}  # fmt: skip


def coverage_of(model_type: str) -> Coverage | None:
    """Whether a type can be scored; None for one that nobody has classified."""
    if model_type in _TESTED:
        return Coverage("tested", "parity with its card's own lines")
    if model_type in VIDEO:
        return Coverage("expected", "its processor takes clips")
    if model_type in IMAGES:
        return Coverage("expected", "its processor takes several images")
    return next((Coverage("cannot", why) for why, names in _CANNOT.items() if model_type in names), None)


def scored_types() -> tuple[str, ...]:
    """All types that are tested or expected to work."""
    return (*sorted(_TESTED), *VIDEO, *IMAGES)
