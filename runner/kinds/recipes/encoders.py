"""Recipes of models that encode videos and texts apart."""

from video_contrast.runner.kinds.recipes.recipe import Line, Recipe

DOCS = "https://huggingface.co/docs/transformers/model_doc/"
TESTS = "tests/runner/test_parity.py"
VLM_TESTS = "tests/runner/vlm/test_parity.py"

FRAMES = Line("frames one by one, embeddings of length 1, their mean, length 1 again", "arXiv:2104.08860, section 3.2")
AS_WRITTEN = Line("as they are", DOCS + "clip")
OWN_PIXELS = Line("the checkpoint's own image processor, PIL backend", DOCS + "clip")
COSINE = Line("cosine", DOCS + "clip")


def _image_text(family: str, *classes: str, types: tuple[str, ...], page: str, parity: str = TESTS) -> Recipe:
    lines = {
        "frames": FRAMES,
        "pixels": Line(OWN_PIXELS.value, DOCS + page),
        "captions": Line(AS_WRITTEN.value, DOCS + page),
        "score": Line(COSINE.value, DOCS + page),
    }
    return Recipe(family, classes, lines, types, reads_times=False, parity=parity)


def _siglip(family: str, name: str, kind: str) -> Recipe:
    source = DOCS + "siglip2"
    lines = {
        "frames": FRAMES,
        "pixels": Line(OWN_PIXELS.value, source),
        "captions": Line("lower case", source + " (Notes)"),
        "padding": Line("to the full length, without an attention mask", source + " (Notes)"),
        "score": Line("cosine; its sigmoid has the same order", source),
    }
    return Recipe(family, (name,), lines, (kind,), reads_times=False, parity=TESTS)


PERCEPTION = {
    "frames": Line("the clip as a whole, as many frames as given", DOCS + "pe_video"),
    "pixels": Line("the checkpoint's own video processor, which samples nothing", DOCS + "pe_video"),
    "captions": Line("as they are, last layer's first token", "transformers: models/pe_video/modeling_pe_video.py"),
    "score": Line("plain product, as in the class's own logits", "transformers: models/pe_video/modeling_pe_video.py"),
}

RECIPES = (
    _image_text("CLIP", "CLIPModel", types=("clip",), page="clip"),
    _image_text("MetaCLIP 2", "MetaClip2Model", types=("metaclip_2",), page="metaclip_2"),
    _image_text("ALIGN", "AlignModel", types=("align",), page="align"),
    _image_text("AltCLIP", "AltCLIPModel", types=("altclip",), page="altclip", parity=""),
    _image_text("Chinese-CLIP", "ChineseCLIPModel", types=("chinese_clip",), page="chinese_clip", parity=""),
    _image_text("GroupViT", "GroupViTModel", types=("groupvit",), page="groupvit", parity=""),
    _image_text("AIMv2", "Aimv2Model", types=("aimv2",), page="aimv2", parity=""),
    _image_text(
        "vision-text dual encoder", "VisionTextDualEncoderModel", types=("vision-text-dual-encoder",),
        page="vision-text-dual-encoder", parity="",
    ),
    _siglip("SigLIP, SigLIP 2 (fixed resolution)", "SiglipModel", "siglip"),
    _siglip("SigLIP 2 (NaFlex)", "Siglip2Model", "siglip2"),
    Recipe(
        "X-CLIP",
        ("XCLIPModel",),
        {
            "frames": Line("exactly as many as vision_config.num_frames", DOCS + "xclip"),
            "pixels": Line("the checkpoint's own processor", DOCS + "xclip"),
            "captions": Line("prompted by the video", "arXiv:2208.02816, section 3.3"),
            "score": Line("cosine", "transformers: models/x_clip/modeling_x_clip.py (XCLIPModel.forward)"),
        },
        ("xclip",),
        reads_times=False,
        parity=TESTS,
    ),
    Recipe(
        "VideoPrism",
        ("VideoPrismClipModel",),
        {
            "frames": Line("16 (base), 8 (large): vision_config.num_frames", DOCS + "videoprism (Tips)"),
            "resolution": Line(288, DOCS + "videoprism (Tips)", config="vision_config.image_size"),
            "captions": Line(
                "canonicalize_text: lower case, no punctuation, a period; 64 tokens",
                "https://github.com/google-deepmind/videoprism (videoprism/tokenizers.py, models.py)",
            ),
            "score": Line("cosine, not the softmaxed logits", DOCS + "videoprism"),
        },
        ("videoprism",),
        reads_times=False,
        parity=VLM_TESTS,
    ),
    Recipe("PE-Video", ("PeVideoModel",), PERCEPTION, ("pe_video",), reads_times=False, parity=VLM_TESTS),
    Recipe(
        "PE-AV (without sound)", ("PeAudioVideoModel",), PERCEPTION, ("pe_audio_video",), reads_times=False,
        parity=VLM_TESTS,
    ),
)  # fmt: skip

# Of a folder with a modules.json, whatever the model inside.
SENTENCE = Recipe(
    "sentence-transformers embedders",
    (),
    {
        "captions": Line(
            "queries: encode_query with the saved query prompt",
            "https://sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html",
        ),
        "clips": Line(
            "documents: encode_document, arrays with their true times",
            "https://sbert.net/docs/package_reference/sentence_transformer/SentenceTransformer.html",
        ),
        "score": Line("cosine", "https://huggingface.co/Qwen/Qwen3-VL-Embedding-2B"),
    },
    parity=TESTS,
    notes="parity over a CLIP inside",
)
