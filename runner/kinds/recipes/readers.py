"""Recipes of models that read video and caption together."""

from dataclasses import replace

from video_contrast.runner.kinds.recipes.encoders import DOCS, DTYPE, OWN_PIXELS, PADDED, SBERT, VLM_TESTS
from video_contrast.runner.kinds.recipes.recipe import Line, Recipe, read_in

VQASCORE = "arXiv:2404.01291, section 3 (the probability of Yes); the wording for videos is this package's"
YESNO = Line('Does this video show: "..."? Answer Yes or No.', VQASCORE)
NO_SYSTEM = Line("the chat template's own; none is added", "the checkpoint's chat_template")
LIBRARY = "transformers: models/{0}/processing_{0}.py"

TEXT_TIMES = "times are written into the prompt"
AS_QWEN3_VL = Line(f"{TEXT_TIMES}, as for Qwen3-VL", LIBRARY.format("qwen3_vl"))
UTILS = "https://github.com/QwenLM/Qwen3-VL (qwen-vl-utils/src/qwen_vl_utils/vision_process.py, fetch_video)"
QWEN_PIXELS = Line(
    "a frame has 128 to 768 tokens of 28 x 28 pixels, where the checkpoint holds the limits of images", UTILS
)
CAPPED = Line(
    "a frame has at most 768 tokens of 32 x 32 pixels, the clip the checkpoint's size.longest_edge",
    "https://github.com/huggingface/transformers/pull/48071",
)
ALONE = Line("none: one prompt at a time", "runner/kinds/generative_scorer.py")


def _generative(
    family: str, name: str, kind: str, *, times: str | Line = "", patches: int = 0, card: str = "",
    also: dict[str, Line] | None = None,
) -> Recipe:  # fmt: skip
    """The recipe of a class: `also` replaces lines, and adds some."""
    page = card or DOCS + kind
    lines = {
        "prompt": YESNO,
        "system prompt": NO_SYSTEM,
        "frames": Line("as videos, as sampled: do_sample_frames=False", page),
        "times": times if isinstance(times, Line) else Line(times or "none", LIBRARY.format(kind)),
    }
    if patches:
        lines["frames in a temporal patch"] = Line(patches, page, config="vision_config.temporal_patch_size")
    lines |= {"padding": ALONE, "dtype": DTYPE, "pixels": Line("the checkpoint's own processor", page)}
    return Recipe(family, (name,), lines | (also or {}), (kind,), reads_times=bool(times), parity=VLM_TESTS)


def _as_images(page: str) -> dict[str, Line]:
    return {"frames": Line("as several images, as sampled: do_sample_frames=False", DOCS + page)}


def _matching(family: str, name: str, page: str) -> Recipe:
    lines = read_in(
        DOCS + page, frames="one by one; mean or max of the probability of a match",
        captions="as they are, cut at the text tower's length", score="probability of a match", pixels=OWN_PIXELS,
        padding=PADDED, dtype=DTYPE,
    )  # fmt: skip
    return Recipe(family, (name,), lines, reads_times=False, parity=VLM_TESTS)


GENERATIVE = (
    _generative(
        "Qwen2-VL", "Qwen2VLForConditionalGeneration", "qwen2_vl", patches=2, also={"pixels": QWEN_PIXELS},
        card="https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct",
    ),
    _generative(
        "Qwen2.5-VL", "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", patches=2, also={"pixels": QWEN_PIXELS},
        times="temporal positions of M-RoPE, by second_per_grid_ts of the sampled rate",
        card="https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct",
    ),
    _generative(
        "Qwen3-VL", "Qwen3VLForConditionalGeneration", "qwen3_vl", patches=2,
        times=f"{TEXT_TIMES}: <1.5 seconds> before each temporal patch, the mean of its two frames",
        also={
            "pixels": CAPPED,
            "vision marks": Line(
                "the installed library's: from 5.10 on the template's outer pair stays around the timed blocks, which "
                "the library of the release took away",
                "https://github.com/vllm-project/vllm/issues/46817, https://github.com/vllm-project/vllm/pull/52526",
            ),
        },
        card="https://huggingface.co/Qwen/Qwen3-VL-8B-Instruct",
    ),
    _generative("LLaVA-OneVision", "LlavaOnevisionForConditionalGeneration", "llava_onevision"),
    _generative("LLaVA-NeXT-Video", "LlavaNextVideoForConditionalGeneration", "llava_next_video"),
    _generative("InternVL", "InternVLForConditionalGeneration", "internvl"),
    _generative(
        "SmolVLM", "SmolVLMForConditionalGeneration", "smolvlm", times=f"{TEXT_TIMES}: Frame from 00:01, whole seconds"
    ),
    _generative("Gemma 3", "Gemma3ForConditionalGeneration", "gemma3", also=_as_images("gemma3")),
    _generative("LFM2-VL", "Lfm2VlForConditionalGeneration", "lfm2_vl", also=_as_images("lfm2_vl")),
    replace(
        _generative(
            "Qwen2.5-Omni (its thinker, without sound)", "Qwen2_5OmniForConditionalGeneration", "qwen2_5_omni",
            times="temporal positions of M-RoPE; the rate is passed as fps, which the processor else takes for 2",
            also={"pixels": Line(
                "a frame has 128 to 768 tokens of 28 x 28 pixels",
                "https://github.com/huggingface/transformers/pull/37660",
            )},
        ),
        model_types=("qwen2_5_omni", "qwen2_5_omni_thinker"),
    ),
    replace(
        _generative(
            "Qwen3-VL-MoE", "Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", patches=2, times=AS_QWEN3_VL,
            also={"pixels": CAPPED},
        ),
        parity="",
    ),
    _generative(
        "Qwen3.5", "Qwen3_5ForConditionalGeneration", "qwen3_5", patches=2, times=AS_QWEN3_VL,
        also={"pixels": CAPPED},
    ),
    replace(
        _generative(
            "GLM-4.1V", "Glm4vForConditionalGeneration", "glm4v", patches=2, times=f"{TEXT_TIMES}: whole seconds"
        ),
        parity="",
    ),
    replace(
        _generative("VideoLLaMA 3", "VideoLlama3ForConditionalGeneration", "video_llama_3", times=TEXT_TIMES),
        parity="",
    ),
)  # fmt: skip

MATCHING = (
    _matching("BLIP", "BlipForImageTextRetrieval", "blip"),
    _matching("BLIP-2", "Blip2ForImageTextRetrieval", "blip-2"),
    _matching("BridgeTower", "BridgeTowerForImageAndTextRetrieval", "bridgetower"),
    _matching("ViLT", "ViltForImageAndTextRetrieval", "vilt"),
)

# Of a folder with a modules.json that is a cross-encoder, whatever the model inside.
RERANKER = Recipe(
    "sentence-transformers rerankers",
    (),
    {
        "pair": Line("predict of ({text}, {video}) with the saved prompt", SBERT + "cross_encoder/cross_encoder.html"),
        "clips": Line("arrays with their true times", "https://huggingface.co/Qwen/Qwen3-VL-Reranker-2B"),
        "pixels": Line("the checkpoint's own processor", "https://huggingface.co/Qwen/Qwen3-VL-Reranker-2B"),
        "dtype": DTYPE,
    },
    parity=VLM_TESTS,
    notes="parity over a Qwen2.5-VL inside",
)
