"""The options that the builders of robustness sets share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.errors import UsageError
from video_contrast.options import as_record
from video_contrast.perturbations.registry import TEXT
from video_contrast.perturbations.text import names
from video_contrast.perturbations.video import VideoCondition

TEXTS = tuple(names())
TEXTS_WITHOUT_BIAS = tuple(names(bias=False))
CONFIGS = ("clean", *TEXTS, "visual", "pairs")


@dataclass(frozen=True, kw_only=True)
class PerturbationOptions:
    """How a set is perturbed."""

    seed: Annotated[int, "seed of every perturbation"] = 0
    profile: Annotated[
        Literal["paper", "released", "monotone"],
        "released is the authors' code where it differs; with monotone visual damage rises with severity",
    ] = "paper"
    scope: Annotated[
        Literal["clip", "video"],
        "what temporal perturbations and codecs act on: clip (between start and end) or video (then cut)",
    ] = "clip"
    order: Annotated[
        Literal["perturb_then_sample", "sample_then_perturb"],
        "whether all frames are perturbed, or only the sampled ones",
    ] = "perturb_then_sample"
    models: Annotated[
        str | None, "checkpoints for text perturbations: name=FOLDER_OR_HUB_ID,... (a+b where one needs two)"
    ] = None
    video_root: Annotated[
        Path | None, "folder of the videos: needed to write files, else used to measure the damage of each severity"
    ] = None
    files: Annotated[
        Path | None, "also write the perturbed clips as files below this folder, which becomes the video root"
    ] = None
    quality: Annotated[Literal["high", "lossless"], "quality of the files"] = "high"
    num_proc: Annotated[int, "processes that write files"] = 1
    meteor: Annotated[bool, "measure METEOR of the perturbed captions for the card (needs NLTK's WordNet data)"] = False
    language_model: Annotated[
        str | None, "measure perplexities for the card under this causal language model (the paper's: gpt2)"
    ] = None

    @property
    def text_profile(self) -> str:
        """The profile of the captions: severities are a matter of pictures only."""
        return "paper" if self.profile == "monotone" else self.profile

    def text_models(self) -> dict[str, tuple[str, ...]] | None:
        """Perturbation -> checkpoints; None where no models are given."""
        if not self.models:
            return None
        checkpoints = {}
        for part in self.models.split(","):
            name, equals, where = part.strip().partition("=")
            if not equals or name not in TEXT:
                raise UsageError(f"--models {part!r}: write a text perturbation's name = a folder or Hub id")
            checkpoints[name] = tuple(where.split("+"))
        return checkpoints

    def condition(self, name: str, severity: int) -> VideoCondition:
        """The visual condition under these options."""
        return VideoCondition(name, severity, self.profile, self.seed, scope=self.scope, order=self.order)

    def record(self) -> dict[str, object]:
        """The options that a set's record shows."""
        values = as_record(self)
        shown = {name: values[name] for name in ("profile", "scope", "order", "models")}
        return shown | ({"files": self.quality} if self.files is not None else {})
