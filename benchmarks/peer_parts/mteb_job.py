"""The work of `benchmarks/peers.py` in MTEB: text to video, video to text, and true or false captions.

Run by the Python of MTEB's environment, with a JSON file that says where clips, captions and the checkpoint are.
What stands between the marks is what a user has to write to score a CLIP checkpoint on captioned videos of their own.
"""

import json
import sys
from pathlib import Path
from typing import Any

COUNTS = {"frames_decoded": 0, "visual_encodings": 0, "text_encodings": 0}

# user: begin
import mteb  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from mteb.abstasks import AbsTaskPairClassification, AbsTaskRetrieval  # noqa: E402
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402
from mteb.models.abs_encoder import AbsEncoder  # noqa: E402
from mteb.models.modality_collators import FramesCollator  # noqa: E402
from mteb.models.model_meta import ModelMeta  # noqa: E402
from transformers import CLIPModel, CLIPProcessor  # noqa: E402


class ClipOfFrames(AbsEncoder):
    """A CLIP checkpoint that sees a video as the mean of its frames."""

    def __init__(self, path: str, frames: int) -> None:
        self.model = CLIPModel.from_pretrained(path, local_files_only=True).eval()
        self.processor = CLIPProcessor.from_pretrained(path, local_files_only=True, backend="pil")
        self.frames = frames
        name = {"name": "local/checkpoint", "revision": "1", "modalities": ["text", "video"]}
        self.mteb_model_meta = ModelMeta.create_empty(name)

    @torch.inference_mode()  # type: ignore[untyped-decorator]  # torch is not followed
    def encode(self, inputs: torch.utils.data.DataLoader, *, task_metadata: object, **kwargs: object) -> np.ndarray:
        if "video" in inputs.dataset.features:
            inputs.collate_fn = self.sampled
            rows = [self.video(video) for batch in inputs for video in batch["video"]]
            return np.asarray(torch.stack(rows))
        return np.asarray(torch.cat([self.texts(batch["text"]) for batch in inputs]))

    def sampled(self, rows: list[dict[str, str]]) -> dict[str, list[torch.Tensor]]:
        return {"video": [FramesCollator.resample_video(open_video(r["video"]), num_frames=self.frames) for r in rows]}

    def video(self, frames: torch.Tensor) -> torch.Tensor:
        pixels = self.processor.image_processor(images=list(frames.numpy()), return_tensors="pt")
        rows = self.model.get_image_features(**pixels).pooler_output
        mean = torch.nn.functional.normalize(rows, dim=-1).mean(0)
        COUNTS["visual_encodings"] += 1
        return torch.nn.functional.normalize(mean, dim=-1)

    def texts(self, texts: list[str]) -> torch.Tensor:
        tokens = self.processor.tokenizer(texts, padding=True, truncation=True, max_length=32, return_tensors="pt")
        COUNTS["text_encodings"] += len(texts)
        return torch.nn.functional.normalize(self.model.get_text_features(**tokens).pooler_output, dim=-1)


def metadata(name: str, kind: str, category: str, score: str) -> TaskMetadata:
    return TaskMetadata(
        name=name, description=name, reference=None, dataset={"path": "local/set", "revision": "1"}, type=kind,
        category=category, modalities=["text", "video"], eval_splits=["test"], eval_langs=["eng-Latn"],
        main_score=score, date=None, domains=None, task_subtypes=None, license=None, annotations_creators=None,
        dialect=None, sample_creation=None, bibtex_citation=None,
    )  # fmt: skip


class Search(AbsTaskRetrieval):
    """Texts to videos, or videos to texts."""

    metadata = metadata("LocalSearch", "Any2AnyRetrieval", "t2v", "precision_at_1")
    rows: dict[str, list[Any]]  # JSON: column -> its values

    def load_data(self, **kwargs: object) -> None:
        captions = [(f"{n}-{k}", text) for n, own in enumerate(self.rows["text"]) for k, text in enumerate(own)]
        texts = Dataset.from_dict({"id": [name for name, _ in captions], "text": [text for _, text in captions]})
        names = [str(n) for n in range(len(self.rows["video"]))]
        videos = Dataset.from_dict({"id": names, "video": self.rows["video"]})
        true: dict[str, dict[str, int]] = {}
        for name, _ in captions:
            pair = (name, name.split("-")[0])
            query, answer = pair if self.metadata.category == "t2v" else pair[::-1]
            true.setdefault(query, {})[answer] = 1
        queries, corpus = (texts, videos) if self.metadata.category == "t2v" else (videos, texts)
        split = RetrievalSplitData(queries=queries, corpus=corpus, relevant_docs=true, top_ranked=None)
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True


class SearchBack(Search):
    metadata = metadata("LocalSearchBack", "Any2AnyRetrieval", "v2t", "precision_at_1")


class Pairs(AbsTaskPairClassification):
    """A video and a caption: true or not."""

    metadata = metadata("LocalPairs", "VideoPairClassification", "v2t", "max_ap")
    input1_column_name = {"video": "video"}  # noqa: RUF012  as the class declares it
    input2_column_name = {"text": "text"}  # noqa: RUF012
    label_column_name = "label"
    rows: dict[str, list[Any]]  # JSON: column -> its values

    def load_data(self, **kwargs: object) -> None:
        self.dataset = {"default": {"test": Dataset.from_dict(self.rows)}}
        self.data_loaded = True


def score(job: dict[str, Any]) -> dict[str, dict[str, dict[str, float]]]:  # JSON
    model = ClipOfFrames(job["checkpoint"], job["frames"])
    scores = {}
    for name, rows in job["conditions"].items():
        tasks: list[Search | Pairs] = [Search(), SearchBack(), Pairs()]
        for task, own in zip(tasks, (rows["search"], rows["search"], rows["pairs"]), strict=True):
            task.rows = own
        results = mteb.evaluate(model, tasks, cache=None, co2_tracker=False, show_progress_bar=False)
        scores[name] = {result.task_name: result.scores["test"][0] for result in results.task_results}
    return scores


# user: end


def open_video(path: str) -> "FileOfFrames":
    return FileOfFrames(path)


class FileOfFrames:
    """What MTEB asks of torchcodec's decoder, by PyAV: torchcodec does not load everywhere. Frames are counted."""

    def __init__(self, path: str) -> None:
        import av

        self.path = path
        with av.open(path) as container:
            count = container.streams.video[0].frames
        self.metadata = type("Metadata", (), {"num_frames": count, "end_stream_seconds": None})

    def get_frames_at(self, indices: list[int]) -> type[object]:
        import av

        missing, pictures = set(indices), {}
        with av.open(self.path) as container:
            container.streams.video[0].thread_count = 1
            for number, frame in enumerate(container.decode(video=0)):
                COUNTS["frames_decoded"] += 1
                if number in missing:
                    pictures[number] = torch.from_numpy(frame.to_ndarray(format="rgb24"))
                if number >= max(missing):
                    break
        return type("Batch", (), {"data": torch.stack([pictures[number] for number in indices])})


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    scored = score(job)
    keep = {
        condition: {
            "t2v_r1": scores["LocalSearch"]["precision_at_1"],
            "v2t_r1": scores["LocalSearchBack"]["precision_at_1"],
            "pairs_ap": scores["LocalPairs"]["similarity_ap"],
        }
        for condition, scores in scored.items()
    }
    Path(sys.argv[2]).write_text(json.dumps({"scores": keep, "counts": COUNTS}), encoding="utf-8")


if __name__ == "__main__":
    main()
