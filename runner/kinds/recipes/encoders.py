"""Recipes of models that encode videos and texts apart."""

from video_contrast.runner.kinds.recipes.recipe import Line, Recipe, read_in

DOCS = "https://huggingface.co/docs/transformers/model_doc/"
TESTS = "tests/runner/test_parity.py"
VLM_TESTS = "tests/runner/vlm/test_parity.py"

FRAMES = Line("frames one by one, embeddings of length 1, their mean, length 1 again", "arXiv:2104.08860, section 3.2")
OWN_PIXELS = "the checkpoint's own image processor, PIL backend"
PADDED = "right, to the longest of a batch, with an attention mask"
SBERT = "https://sbert.net/docs/package_reference/"
QUERIES = "queries: encode_query with the saved query prompt"
DTYPE = Line("the config's on a GPU (--dtype auto), float32 on a CPU", DOCS + "auto (dtype)")


def _image_text(family: str, *classes: str, types: tuple[str, ...], page: str, parity: str = TESTS) -> Recipe:
    lines = read_in(
        DOCS + page, frames=FRAMES, pixels=OWN_PIXELS, captions="as they are", score="cosine", padding=PADDED,
        length="cut at text_config.max_position_embeddings (77 in CLIP, MetaCLIP 2)", dtype=DTYPE,
    )  # fmt: skip
    return Recipe(family, classes, lines, types, reads_times=False, parity=parity)


def _siglip(family: str, name: str, kind: str) -> Recipe:
    source = DOCS + "siglip2"
    patches = "at most max_num_patches (256) patches, the sides in proportion"
    lines = read_in(
        source,
        frames=FRAMES,
        pixels=patches if kind == "siglip2" else "squeezed to the square of the checkpoint's size",
        captions=Line("lower case", source + " (Notes)"),
        padding=Line("right, to 64 tokens (the full length), without an attention mask", source + " (Notes)"),
        dtype=DTYPE,
        score="cosine; its sigmoid has the same order",
    )
    return Recipe(family, (name,), lines, (kind,), reads_times=False, parity=TESTS)


PERCEPTION = {
    "frames": Line("the clip as a whole, as many frames as given", DOCS + "pe_video"),
    "pixels": Line("the checkpoint's own video processor, which samples nothing", DOCS + "pe_video"),
    "captions": Line("as they are, last layer's first token", "transformers: models/pe_video/modeling_pe_video.py"),
    "padding": Line("to the longest of a batch, with an attention mask", DOCS + "pe_video"),
    "dtype": DTYPE,
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
            "length": Line("cut at 77 tokens", "transformers: models/x_clip/configuration_x_clip.py"),
            "dtype": DTYPE,
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
                "https://github.com/google-deepmind/videoprism (videoprism/utils.py; TEXT_MAX_LEN in models.py)",
            ),
            "padding": Line(
                "right, to 64 tokens", "https://github.com/google-deepmind/videoprism (TEXT_MAX_LEN in models.py)"
            ),
            "pixels": Line("0 to 1, squeezed to the square", DOCS + "videoprism (Usage example)"),
            "dtype": DTYPE,
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


def _late(family: str, name: str, kind: str, prompt: str) -> Recipe:
    source = DOCS + kind
    lines = read_in(
        source,
        frames=Line("one by one; the vectors of all of them are those of the clip", "runner/kinds/late_interaction.py"),
        pixels="process_images of the checkpoint's processor, PIL backend",
        captions=Line(f"process_queries: {prompt}", f"transformers: models/{kind}/processing_{kind}.py"),
        padding="none: captions of as many tokens go together, zeros never match",
        score=Line("MaxSim: the sum over a caption's vectors of the best product", "arXiv:2407.01449, section 4.1"),
        vector=Line(128, f"transformers: models/{kind}/configuration_{kind}.py"),
    )
    return Recipe(family, (name,), lines, (kind,), reads_times=False, parity="tests/runner/test_late_interaction.py")


LATE = (
    _late("ColQwen2", "ColQwen2ForRetrieval", "colqwen2", "Query: , caption, ten padding tokens, line feed"),
    _late("ColPali", "ColPaliForRetrieval", "colpali", "bos, Question: , caption, ten padding tokens, line feed"),
    _late("ColModernVBERT", "ColModernVBertForRetrieval", "colmodernvbert", "caption, ten ends of utterance"),
)
# Of a folder that sentence-transformers saved as a MultiVectorEncoder.
MULTI_VECTOR = Recipe(
    "sentence-transformers multi-vector encoders",
    (),
    read_in(
        SBERT + "multi_vector_encoder/model.html",
        captions=QUERIES,
        clips="documents: encode_document, arrays with their true times; of image models the vectors of all frames",
        score=Line("similarity_fn_name of the checkpoint: MaxSim, or its mean", "sentence_transformers.util.maxsim"),
    ),
    parity="tests/runner/vlm/test_parity.py",
    notes="parity over a Qwen3-VL inside",
)


def _remote(family: str, name: str, lines: dict[str, Line]) -> Recipe:
    score = {"score": Line("cosine", lines["clips"].source)}
    return Recipe(family, (name,), lines | score, reads_times=False, parity="tests/runner/test_remote_embedders.py")


DEMO = "https://github.com/OpenGVLab/InternVideo (InternVideo2/multi_modality/demo/utils.py: frames2tensor)"
SQUEEZED = Line("8 frames squeezed to 224 x 224, bilinear, ImageNet's mean and deviation", DEMO)
COSMOS = "https://huggingface.co/nvidia/Cosmos-Embed1-448p-anomaly-detection"
LANGUAGEBIND = "https://github.com/PKU-YuanGroup/LanguageBind (languagebind/video/processing_video.py)"
REMOTE = (
    _remote(
        "Cosmos-Embed1",
        "CosmosEmbed1",
        {
            "clips": Line(
                "8 frames from the first to the last, through its processor: visual_proj",
                f"{COSMOS} (How to use this model)",
            ),
            "captions": Line("its processor, cut or padded to 128 tokens: text_proj", f"{COSMOS} (Inputs)"),
        },
    ),
    _remote("ViCLIP", "ViCLIP", {"clips": SQUEEZED, "captions": Line("a string, with model.tokenizer", DEMO)}),
    _remote("InternVideo2", "InternVideo2_CLIP", {"clips": SQUEEZED, "captions": Line("a string: get_txt_feat", DEMO)}),
    _remote(
        "LanguageBind (video)",
        "LanguageBindVideo",
        read_in(
            LANGUAGEBIND,
            clips="short side 224, the middle square; its random crop and mirroring are left out",
            captions="padded to 77 tokens",
        ),
    ),
)

# Of a folder with a modules.json, whatever the model inside.
SENTENCE = Recipe(
    "sentence-transformers embedders",
    (),
    read_in(
        SBERT + "sentence_transformer/SentenceTransformer.html",
        captions=QUERIES,
        clips="documents: encode_document, arrays with their true times",
        pixels=Line("the checkpoint's own processor", "https://huggingface.co/Qwen/Qwen3-VL-Embedding-2B"),
        rate=Line(
            "in the metadata of each clip; to Omni processors as fps, which they else take for 2",
            "transformers: models/qwen2_5_omni/processing_qwen2_5_omni.py (_process_videos)",
        ),
        score=Line("cosine", "https://huggingface.co/Qwen/Qwen3-VL-Embedding-2B"),
        dtype=DTYPE,
    ),
    parity=TESTS,
    notes="parity over CLIP, Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5, EmbeddingGemma 2, Qwen2.5-Omni inside",
)
