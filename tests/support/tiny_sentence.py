"""Tiny models of sentence-transformers over the real generative classes, as they are published."""

from collections.abc import Callable
from pathlib import Path

PROMPTS = {"query": "Retrieve videos relevant to the user's query.", "document": "Represent the user's input."}
# The class inside -> the embedders that are built so: their last token (of Gemma the mean), of length 1.
INSIDE = {
    "qwen3_vl": "Qwen3-VL-Embedding",
    "qwen2_vl": "GME, VLM2Vec-V2",
    "qwen2_5_vl": "jina-embeddings-v4 (its base)",
    "qwen3_5": "embedders over Qwen3.5",
    "embedding_gemma2": "EmbeddingGemma 2",
    "qwen2_5_omni": "embedders over the thinker of Qwen2.5-Omni",
}


def embedder(folder: Path, inside: Path) -> Path:
    """A `SentenceTransformer`; of an Omni its thinker alone."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    module = Transformer(str(_thinker(inside, folder) if inside.name == "qwen2_5_omni" else inside))
    pooling = Pooling(32, pooling_mode="mean" if "gemma" in inside.name else "lasttoken")
    SentenceTransformer(modules=[module, pooling, Normalize()], prompts=PROMPTS).save(str(folder))
    return folder


def _thinker(inside: Path, folder: Path) -> Path:
    from transformers import AutoProcessor, Qwen2_5OmniThinkerForConditionalGeneration

    path = folder.with_name(f"{folder.name}-thinker")
    Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(inside).save_pretrained(path)
    AutoProcessor.from_pretrained(inside).save_pretrained(path)
    return path


def reranker(folder: Path, inside: Path) -> Path:
    """A `CrossEncoder` that reads the log-odds of Yes."""
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.cross_encoder.modules import LogitScore

    module = Transformer(str(inside), transformer_task="any-to-any")
    yes, no = module.tokenizer.convert_tokens_to_ids(["Yes", "No"])
    CrossEncoder(modules=[module, LogitScore(true_token_id=yes, false_token_id=no)]).save_pretrained(str(folder))
    return folder


def multi_vector(folder: Path, inside: Path) -> Path:
    """A `MultiVectorEncoder` with 16 numbers a token, joined by the mean of MaxSim."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.base.modules.dense import Dense

    tokens = "token_embeddings"
    torch.manual_seed(0)
    dense = Dense(32, 16, bias=False, activation_function=None, module_input_name=tokens, module_output_name=tokens)
    MultiVectorEncoder(
        modules=[Transformer(str(inside)), dense, Normalize(tokens)],
        prompts={"query": "find: ", "document": ""},
        similarity_fn_name="meanmaxsim",
    ).save(str(folder))
    return folder


MAKERS: dict[str, tuple[Callable[[Path, Path], Path], str]] = {
    "embedder of qwen3_vl": (embedder, "qwen3_vl"),
    "embedder of embedding_gemma2": (embedder, "embedding_gemma2"),
    "reranker of qwen2_5_vl": (reranker, "qwen2_5_vl"),
    "multi-vectors of lfm2_vl": (multi_vector, "lfm2_vl"),
}
