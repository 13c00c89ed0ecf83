"""The builder `counterfactual`: retrieval from counterfactually augmented data, made from any captioned videos.

As Feint6K (RCAD paper, section 3), but automatic: the true caption stands among five that keep its objects and its
structure and change what is done. All five actions differ, and no caption of the clip uses any of them.
"""

from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly import options
from video_contrast.builders.registry import BuiltSet, builder

CONFIGS = ("rcad", "random6", "retrieval")
NEGATIVES = 5


@builder("counterfactual", configs=CONFIGS, needs="a table of videos and captions, or MSR-VTT's annotations")
def counterfactual(
    configs: list[str],
    *,
    captions: Annotated[str, "table of captions, a data set of the Hub, or a folder with MSR-VTT's annotations"],
    video_column: Annotated[str, "column with the video file, relative to the video root"] = "video",
    caption_column: Annotated[str, "column with the caption, or a list of captions"] = "caption",
    id_column: Annotated[str | None, "column with the clip's id"] = None,
    training: Annotated[str | None, options.TRAINING_HELP] = None,
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None,
    source_split: Annotated[str | None, "split of the Hub data set or of MSR-VTT; default: test"] = None,
    split: Annotated[str, "name of the split that is written"] = "test",
    negatives: Annotated[int, "counterfactuals a clip"] = NEGATIVES,
    caption: Annotated[str, options.CAPTION_HELP] = "eligible",
    generator: Annotated[str, "lexical, mlm, llm or t5"] = "lexical",
    model: Annotated[str | None, options.MODEL_HELP] = None,
    generator_options: Annotated[str | None, options.GENERATOR_OPTIONS_HELP] = None,
    constraints: Annotated[str | None, "constraints, comma-separated; default: the generator's own set"] = None,
    settings: Annotated[str | None, options.SETTINGS_HELP] = None,
    tagger: Annotated[str, options.TAGGER_HELP] = "auto",
    seed: Annotated[int, "of every draw"] = 0,
    num_proc: Annotated[int, options.NUM_PROC_HELP] = 1,
) -> BuiltSet:
    """Counterfactual captions for your videos: same objects, five other actions; random captions as the control."""
    from video_contrast.builders.assembly import configs as making
    from video_contrast.builders.assembly import contrasts
    from video_contrast.builders.assembly import multiple_choice as assembly
    from video_contrast.builders.assembly.clips import retrieval_rows
    from video_contrast.builders.assembly.verbs import Verbs, tag_cache
    from video_contrast.builders.sources.captions import read_clips, training_captions
    from video_contrast.errors import UsageError

    if negatives < 1:
        raise UsageError(f"--negatives must be at least 1, not {negatives}")
    if Path(captions).is_dir():
        from video_contrast.builders.sources.msrvtt import Source

        parts = Source(Path(captions)).splits()
        wanted = options.chosen_splits(source_split or "test", parts)
        clips = [clip for name in wanted for clip in parts[name]]
        corpus = [text for clip in parts.get("train", clips) for text in clip.captions]
    else:
        clips, _ = read_clips(
            captions,
            video_column=video_column,
            caption_column=caption_column,
            id_column=id_column,
            video_root=video_root,
            source_split=source_split,
        )
        corpus = training_captions(training, caption_column, clips)
    built = BuiltSet(
        "counterfactual",
        {},
        {
            "pretty_name": "Counterfactual retrieval",
            "summary": "Retrieval from counterfactually augmented data: same objects, another action.",
            "sources": [Path(captions).name],
            "citations": [
                "Chen, Shen, Cha, Yuille: Rethinking Video-Text Understanding: Retrieval from Counterfactually "
                "Augmented Data. ECCV 2024."
            ],
            "options": {"generator": generator, "model": model, "negatives": negatives, "caption": caption},
            "seed": seed,
            "configs": {},
        },
    )
    optional = set(configs) == set(CONFIGS)
    for config in configs:
        facts: dict[str, Any] = {"splits": {split: {"items": len(clips)}}}
        if config == "retrieval":
            making.add(built, config, {split: retrieval_rows(clips)}, {"negatives": "all other clips", **facts})
        elif config == "random6":
            asked, counts = assembly.questions(clips, seed=seed, options=negatives + 1)
            facts = {
                "negatives": f"{negatives} captions of other videos, drawn at random",
                "options": negatives + 1,
                "splits": {split: {"items": len(asked), "counts": dict(sorted(counts.items()))}},
            }
            making.add(built, config, {split: [assembly.random_row(q) for q in asked]}, facts, optional=optional)
        else:
            verbs = Verbs(
                lambda: corpus,
                generator,
                model,
                constraints,
                settings,
                tagger,
                seed,
                num_proc,
                many=negatives,
                generator_options=generator_options,
            )
            with tag_cache():
                made = contrasts.make(
                    verbs, clips, seed=seed, caption=options.choice(caption), wanted=negatives, num_proc=num_proc
                )
                record = verbs.facts()
            rows = []
            for clip in clips:
                if clip.id in made.found:
                    index, edits = made.found[clip.id]
                    rows.append(assembly.given_row(clip, clip.captions[index], edits, "counterfactual", seed=seed))
            facts = {
                "negatives": f"{negatives} captions with the same objects and another action",
                "kind": "counterfactual",
                "options": negatives + 1,
                "splits": {
                    split: {
                        "items": len(rows),
                        "counts": made.facts(),
                        "coverage": contrasts.coverage(made, options.choice(caption)),
                    }
                },
            }
            making.add(built, config, {split: rows}, facts | record, optional=optional)
    return built
