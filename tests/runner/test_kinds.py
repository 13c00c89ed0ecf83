"""Encoders, each with a tiny checkpoint of the real class: rows are the model's own, whatever the batch."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models

import video_contrast
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds import all_kinds, choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.model_files import locate

TEXTS = ["a man runs", "two women sing a song to a small dog", "it rains"]
RNG = np.random.default_rng(0)
CLIPS = [RNG.integers(0, 255, (4, 40, 52, 3), dtype=np.uint8) for _ in range(3)]
Load = Callable[..., Encoder]
ODD: dict[str, Callable[[Path], Path]] = {
    "XCLIPModel plain": lambda path: tiny_models.xclip(path, prompt_alpha=0.0),
    "Aimv2Model": tiny_models.aimv2,
    "padded before": lambda path: tiny_models.clip(path, padding_side="left"),
    "no pad token": lambda path: tiny_models.clip(path, pad_token=None),
}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    root = tmp_path_factory.mktemp("kinds")
    makers = {**tiny_models.MAKERS, **ODD}

    def get(name: str, **options: object) -> Encoder:
        folder = root / name
        if not folder.exists():
            makers[name](folder)
        source = locate(str(folder))
        kind = choose(source)
        return kind.load(source, LoadOptions(options=options_for(kind, options)))

    return get


@pytest.mark.parametrize("name", [*tiny_models.MAKERS, *ODD])
def test_rows_do_not_depend_on_the_batch_nor_on_other_texts(load: Load, name: str) -> None:
    model = load(name)
    together = model.join(model.encode_videos(CLIPS), model.encode_texts(TEXTS))
    alone = [[model.join(model.encode_videos([c]), model.encode_texts([t]))[0, 0] for t in TEXTS] for c in CLIPS]
    np.testing.assert_allclose(together, alone, atol=2e-6)
    assert together.dtype == np.float32 and (np.abs(together) <= 1 + 1e-5).all()
    assert together.std() > 1e-3, "the model does not tell the inputs apart, so the test shows nothing"


@pytest.mark.parametrize("name", ["XCLIPModel", "XCLIPModel plain"])
def test_xclip_joined_late_equals_its_forward_pass(load: Load, name: str) -> None:
    import torch

    model = load(name)
    pixels = torch.from_numpy(np.stack([model.prepare(ClipFrames(clip))["pixel_values"] for clip in CLIPS]))
    inner = model.model  # type: ignore[attr-defined]
    with torch.inference_mode():
        out = inner(pixel_values=pixels, **model.tokens(TEXTS, "cpu"))  # type: ignore[attr-defined]
        expected = (out.logits_per_video / inner.logit_scale.exp()).numpy()
    np.testing.assert_allclose(model.join(model.encode_videos(CLIPS), model.encode_texts(TEXTS)), expected, atol=2e-6)


def test_a_prompted_xclip_is_not_the_product_of_its_parts(load: Load) -> None:
    model, plain = load("XCLIPModel"), load("XCLIPModel plain")
    assert model.encode_videos(CLIPS).shape[1] > plain.encode_videos(CLIPS).shape[1]
    np.testing.assert_array_equal(plain.encode_texts(TEXTS).shape, (3, 24))


@pytest.mark.parametrize("name", ["CLIPModel", "SiglipModel"])
def test_image_text_rows_are_those_of_the_models_forward_pass(load: Load, name: str) -> None:
    import torch

    model = load(name)
    frames = {key: torch.from_numpy(value) for key, value in model.prepare(ClipFrames(CLIPS[0])).items()}
    inner = model.model  # type: ignore[attr-defined]
    with torch.inference_mode():
        out = inner(**frames, **model.tokens(TEXTS, "cpu"))  # type: ignore[attr-defined]
    images = out.image_embeds / out.image_embeds.norm(dim=-1, keepdim=True)
    mean = images.mean(0) / images.mean(0).norm()
    np.testing.assert_allclose(model.encode_videos(CLIPS[:1])[0], mean.numpy(), atol=2e-6)
    texts = out.text_embeds / out.text_embeds.norm(dim=-1, keepdim=True)
    np.testing.assert_allclose(model.encode_texts(TEXTS), texts.numpy(), atol=2e-6)


def test_pooling_max_takes_the_best_frame_and_query_scoring_lies_between(load: Load) -> None:
    frames = [np.repeat(clip[:1], 1, 0) for clip in CLIPS[0][:, None]]
    mean = load("CLIPModel")
    each = mean.join(mean.encode_videos(frames), mean.encode_texts(TEXTS))
    best = load("CLIPModel", pooling="max")
    found = best.join(best.encode_videos(CLIPS[:1]), best.encode_texts(TEXTS))
    np.testing.assert_allclose(found[0], each.max(axis=0), atol=2e-6)
    scored = load("CLIPModel", pooling="query-scored", query_temperature=0.1)
    weights = np.exp(each / 0.1) / np.exp(each / 0.1).sum(axis=0)
    found = scored.join(scored.encode_videos(CLIPS[:1]), scored.encode_texts(TEXTS))
    np.testing.assert_allclose(found[0], (weights * each).sum(axis=0), atol=2e-6)


def test_a_bag_of_frames_cannot_see_their_order(load: Load) -> None:
    model = load("CLIPModel")
    np.testing.assert_allclose(
        model.encode_videos(CLIPS), model.encode_videos([clip[::-1] for clip in CLIPS]), rtol=0, atol=1e-6
    )


def test_sentence_transformers_of_a_clip_give_the_cosines_of_the_clip(tmp_path: Path, load: Load) -> None:
    from sentence_transformers import SentenceTransformer

    from video_contrast.runner.kinds.sentence import load as load_sentence

    direct = load("CLIPModel")
    folder = tiny_models.clip(tmp_path / "clip")
    SentenceTransformer(str(folder), device="cpu").save(str(tmp_path / "saved"))
    source = locate(str(tmp_path / "saved"))
    assert source.modules is not None
    model = load_sentence(source, LoadOptions())
    expected = direct.join(direct.encode_videos(CLIPS), direct.encode_texts(TEXTS))
    np.testing.assert_allclose(model.join(model.encode_videos(CLIPS), model.encode_texts(TEXTS)), expected, atol=1e-3)


def precomputed(folder: Path, **manifest: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = {"videos": ["v0", "v1"], "texts": ["a", "b", "c"]}
    (folder / "precomputed.json").write_text(json.dumps({**names, **manifest}))
    return folder


def test_precomputed_matrices_are_looked_up_by_name_in_any_format(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from safetensors.numpy import save_file

    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    folder = precomputed(tmp_path / "made", similarity="m.npy", conditions={"visual:jumble@3": {"similarity": "j.npy"}})
    np.save(folder / "m.npy", matrix)
    np.save(folder / "j.npy", -matrix)
    save_file({"first": matrix, "second": matrix * 2}, folder / "m.safetensors")
    pq.write_table(pa.table({str(n): matrix[:, n] for n in range(3)}), folder / "m.parquet")
    kind = choose(locate(str(folder)))
    assert kind.name == "precomputed"
    for file, factor in (("m.npy", 1), ("m.safetensors:second", 2), ("m.parquet", 1)):
        precomputed(folder, similarity=file, conditions={"visual:jumble@3": {"similarity": "j.npy"}})
        model = kind.load(locate(str(folder)), LoadOptions())
        found = model.similarity(["v1", "v0"], ["x#0", "x#1"], ["c", "a"])
        np.testing.assert_array_equal(found, factor * np.array([[5, 3], [2, 0]]))
    model.begin(["a"], condition="visual:jumble@3")
    np.testing.assert_array_equal(model.similarity(["v1"], ["x#0"], ["c"]), [[-5]])
    with pytest.raises(UsageError, match="no entry for the condition 'text:ocr'"):
        model.begin(["a"], condition="text:ocr")


def test_precomputed_embeddings_are_normalised_unless_told_otherwise(tmp_path: Path) -> None:
    folder = precomputed(tmp_path / "made", video_embeddings="v.npy", text_embeddings="t.npy")
    np.save(folder / "v.npy", np.array([[3.0, 4.0], [0.0, 2.0]], np.float16))
    np.save(folder / "t.npy", np.array([[1.0, 0.0], [0.0, 5.0], [1.0, 1.0]]))
    kind = all_kinds()["precomputed"]
    model = kind.load(locate(str(folder)), LoadOptions())
    np.testing.assert_allclose(model.similarity(["v0"], ["i#0", "i#1"], ["a", "b"]), [[0.6, 0.8]], atol=1e-3)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"similarity": "absent.npy"}, "'absent.npy' is not there"),
        ({"similarity": "m.npy", "videos": ["v0"]}, r"1 videos and 3 texts are named, but the matrix is 2 x 3"),
        ({"similarity": "m.npy", "videos": ["v0", "v0"]}, "1 names in 'videos' stand twice"),
        ({"similarity": "../m.npy"}, "must be relative"),
        ({"similarity": "m.npy", "normalize": False}, "'normalize': did you mean 'normalise'"),
        ({"similarity": "m.npy", "conditions": {"text:ocr": {"similarty": "m.npy"}}}, "did you mean 'similarity'"),
        ({"similarity": "m.npy", "normalise": "false"}, "normalise is true or false, not 'false'"),
        ({"similarity": "m.npy", "texts": "latin.txt"}, "latin.txt is not UTF-8"),
        ({}, "names neither 'similarity' nor"),
        ({"similarity": "m.npy", "videos": 5}, "'videos' must be a list of names"),
        ({"similarity": "m.npy", "videos": "cut.json"}, "cut.json is not valid JSON"),
        ({"similarity": "m.npy", "conditions": ["visual:jumble@3"]}, "must hold an object"),
        ({"similarity": "cut.npy"}, "cut.npy cannot be read as a matrix"),
        ({"similarity": "cut.safetensors"}, "cut.safetensors cannot be read as a matrix"),
        ({"similarity": "cut.parquet"}, "cut.parquet cannot be read as a matrix"),
        ({"similarity": "one.safetensors:other"}, "one.safetensors holds sims; name one as 'one.safetensors:NAME'"),
    ],
)
def test_a_precomputed_folder_that_does_not_fit_says_what_is_wrong(
    tmp_path: Path, manifest: dict[str, object], message: str
) -> None:
    from safetensors.numpy import save_file

    folder = precomputed(tmp_path / "made", **manifest)
    np.save(folder / "m.npy", np.zeros((2, 3)))
    save_file({"sims": np.zeros((2, 3), np.float32)}, folder / "one.safetensors")
    for ending in ("npy", "safetensors", "parquet", "json"):
        (folder / f"cut.{ending}").write_bytes(b"[1,")
    (folder / "latin.txt").write_bytes(b"caf\xe9\nb\nc\n")
    with pytest.raises(VideoContrastError, match=message):
        all_kinds()["precomputed"].load(locate(str(folder)), LoadOptions())


def test_names_are_the_lines_of_a_file_wherever_it_was_written(tmp_path: Path) -> None:
    texts = ["a man", "a\u2028b", "the end"]
    folder = precomputed(tmp_path / "made", similarity="m.npy", texts="names.txt")
    np.save(folder / "m.npy", np.arange(6).reshape(2, 3))
    for end in ("\n", "\r\n"):  # and the mark that Windows puts before a text
        (folder / "names.txt").write_text("\ufeff" + "".join(text + end for text in texts), "utf-8", newline="")
        model = all_kinds()["precomputed"].load(locate(str(folder)), LoadOptions())
        assert model.similarity(["v0"], ["i#0", "i#1", "i#2"], texts).tolist() == [[0, 1, 2]]


def test_ids_that_do_not_match_are_named(tmp_path: Path) -> None:
    folder = precomputed(tmp_path / "made", similarity="m.npy")
    np.save(folder / "m.npy", np.zeros((2, 3)))
    model = all_kinds()["precomputed"].load(locate(str(folder)), LoadOptions())
    with pytest.raises(VideoContrastError, match=r"'videos' lacks at least 1 video of the set \(first: 'v9'"):
        model.similarity(["v0", "v9"], ["i#0"], ["a"])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"architectures": ["BertModel"]}, "no kind takes a model of class BertModel"),
        ({}, "names neither architectures nor model_type"),
    ],
)
def test_a_model_of_an_unknown_kind_is_refused_by_name(tmp_path: Path, config: dict[str, object], message: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match=message):
        choose(locate(str(tmp_path)))


def test_an_unknown_kind_or_option_suggests_the_near_one(load: Load) -> None:
    with pytest.raises(UsageError, match="did you mean 'dual_encoder'"):
        choose(locate("random", names=("random",)), "dual_encodr")
    with pytest.raises(UsageError, match="unknown value of --pooling 'median': did you mean 'mean'"):
        options_for(all_kinds()["dual_encoder"], {"pooling": "median"})
    with pytest.raises(UsageError, match="--lm is not an option of the kind xclip"):
        options_for(all_kinds()["xclip"], {"lm": "gpt2"})


def test_a_model_that_is_nowhere_says_how_to_get_it() -> None:
    with pytest.raises(VideoContrastError, match="get it with `hf download nobody/nothing`"):
        locate("nobody/nothing")
    with pytest.raises(UsageError, match="no such folder"):
        locate("./nowhere")


def test_the_blind_scorer_prefers_what_reads_like_the_set_and_never_sees_its_own_item() -> None:
    blind = all_kinds()["blind"].load(locate("blind", names=("blind",)), LoadOptions())
    corpus = [
        f"a man is {verb} a {thing}" for verb in ("cutting", "washing", "eating") for thing in ("carrot", "potato")
    ]
    blind.begin([*corpus, "carrot a eating is man a"])
    good, bad = blind.score_item("i", "v", ["a man is eating a carrot", "carrot a eating is man a"])
    assert good > bad
    assert np.isfinite([good, bad]).all()


@pytest.mark.parametrize("n", [60, 6])
def test_the_blind_scorer_finds_what_the_audit_of_a_set_finds(tmp_path: Path, n: int) -> None:
    """Of six items, too: trigrams of the other texts were wrong on all that the shorter caption gets right."""
    lines = ["file,right,wrong"]
    verbs = ["opens", "sees", "takes", "moves", "finds"]
    lines += [f"v{k}.mp4,a man {verbs[k % 5]} door {k},a man wobbles that heavy door {k}" for k in range(n)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    root = video_contrast.build(
        "pairs", output=tmp_path / "set", captions=str(tmp_path / "pairs.csv"), video_column="file", true="right",
        false="wrong",
    )  # fmt: skip
    audit = video_contrast.open_set(root).record["configs"]["pairs_mc"]["facts"]["audit"]
    names = ("blind", "language_model") if n == 60 else ("shorter_wins", "longer_wins")
    strongest = max(audit[name]["accuracy"] for name in names)
    result = video_contrast.score("blind", root, "pairs_mc", output=tmp_path / "run", progress=False)
    assert result["pairs_mc"]["conditions"]["clean"]["accuracy"] == pytest.approx(strongest, abs=1e-4) == 1.0


@pytest.mark.parametrize("questions", ["with", "without"])
def test_the_blind_scorer_learns_which_answers_are_often_true(tmp_path: Path, questions: str) -> None:
    """It finds what the X-ray finds, also where other models read the question before each candidate."""
    lines = ["video,question,option_0,option_1,option_2,answer"]
    for k in range(90):
        options = list(np.roll(["two", "five", "six"], k))
        label = options.index("five" if k % 5 == 0 else "two")
        lines.append(f"v{k}.mp4,how many {['boys', 'girls'][k % 2]} jump,{','.join(options)},{label}")
    table = tmp_path / "answers.csv"
    table.write_text("\n".join(lines))
    assert main(["xray", str(table), "--output", str(tmp_path / "xray")]) == 0
    [found] = json.loads((tmp_path / "xray/xray.json").read_text()).values()
    scored = video_contrast.score("blind", table, questions=questions, output=tmp_path / "run", progress=False)
    accuracy = scored["answers"]["conditions"]["clean"]["accuracy"]
    assert accuracy == pytest.approx(found["blind"]["best"]["accuracy"]) == 0.8  # of which "two" is the answer


def test_the_blind_scorer_takes_a_language_model(tmp_path: Path) -> None:
    import torch
    import transformers

    folder = tiny_models.gpt2(tmp_path / "gpt2")
    kind = all_kinds()["blind"]
    blind = kind.load(locate("blind", names=("blind",)), LoadOptions(options={"lm": str(folder)}))
    blind.begin(TEXTS)
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)
    ids = torch.tensor([[tokens.bos_token_id, *tokens.encode(TEXTS[1], add_special_tokens=False)]])
    with torch.inference_mode():
        loss = model(input_ids=ids, labels=ids).loss
    assert blind.score_item("i", "v", [TEXTS[1]])[0] == pytest.approx(-float(loss), abs=1e-5)
