"""The kind of generative video models: which of them there are, their options, and loading them."""

from __future__ import annotations

from video_contrast.errors import VideoContrastError
from video_contrast.runner.kinds.base import LoadOptions, ModelSource, kind
from video_contrast.runner.kinds.generative_scorer import GenerativeScorer, ScoringOptions
from video_contrast.runner.kinds.loading import load_model, load_processor
from video_contrast.runner.kinds.recipes import scored_types
from video_contrast.runner.kinds.registry import kind_options


def check_torchvision() -> None:
    """Video processors need torchvision, and one that was built for the torch at hand.

    Raises:
        VideoContrastError: it is absent, or a build for another torch (which breaks transformers as a whole).
    """
    import torch

    try:
        import torchvision  # noqa: F401
    except ImportError as error:
        raise VideoContrastError(
            "generative video models need torchvision, which is not installed: `pip install video-contrast[vlm]`"
        ) from error
    except RuntimeError as error:
        raise VideoContrastError(
            f"the installed torchvision was built for another torch than {torch.__version__} ({error}); install both "
            "from one package index, in one command, or remove it: `pip uninstall torchvision`"
        ) from error


# Whole speaking models, of which only the part that reads and writes is loaded.
THINKERS = {
    "qwen2_5_omni": "Qwen2_5OmniThinkerForConditionalGeneration",
    "qwen3_omni_moe": "Qwen3OmniMoeThinkerForConditionalGeneration",
}


@kind(
    "generative",
    family="pair",
    summary="generative video models: yes/no, log-likelihood or letter, without generating",
    requirements="torchvision built for your torch (`pip install video-contrast[vlm]`)",
    model_types=scored_types(),
    asks=True,
    options=kind_options(ScoringOptions),
    tested=(
        "Qwen2VLForConditionalGeneration",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "LlavaOnevisionForConditionalGeneration",
        "LlavaNextVideoForConditionalGeneration",
        "InternVLForConditionalGeneration",
        "SmolVLMForConditionalGeneration",
        "Gemma3ForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Lfm2VlForConditionalGeneration",
        "Qwen2_5OmniThinkerForConditionalGeneration",
    ),
    version="3",
)
def load(source: ModelSource, settings: LoadOptions) -> GenerativeScorer:
    """Loads the model as `AutoModelForMultimodalLM`; of a speaking model its thinker."""
    check_torchvision()
    # Not the PIL backend of the other kinds: video processors exist for torchvision only.
    processor = load_processor(source, settings, None)
    name = THINKERS.get(source.model_type, "AutoModelForMultimodalLM")
    return GenerativeScorer(load_model(source, settings, name), processor, ScoringOptions(**settings.options))
