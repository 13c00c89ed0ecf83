"""`video-contrast generate DATASET --output OUT`: negatives for a training corpus, priced before they are made."""

from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import counted, say
from video_contrast.options import Flag
from video_contrast.teacher.options import GenerateOptions


@command("generate", "video-contrast generate sets/mine --generator lexicon --output negatives")
def generate(
    folder: Annotated[str, "folder of a set with captions, or its address", Flag("DATASET")],
    *,
    request: GenerateOptions,
) -> None:
    """Write negatives for a training corpus: priced before they are asked for, resumable, filtered."""
    from video_contrast.teacher.generation import generate as run

    result = run(folder, request=request, say=print if request.dry_run else say)
    if request.dry_run:
        if result["estimate"] is None:
            print(f"--generator {request.generator} asks no chat model: nothing to pay")
        return
    if "captions" not in result:
        say(f"generate: submitted; {request.output} is whole when the jobs have ended; the same command goes on")
        return
    say(f"{counted(result['negatives'], 'negative')} of {counted(result['captions'], 'caption')} in {request.output}")
    if result["captions with none"]:
        say(f"captions without any: {result['captions with none']:,}")
    if result["rejected"]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in result["reasons"].items())
        say(f"rejected, with their reasons in rejected.jsonl: {reasons}")
    for address, reason in result.get("failures", {}).items():
        say(f"left out, the others went on: {address} ({reason.partition('; answers so far')[0]})")
    if "cost" in result:
        cost = result["cost"]
        say(
            f"asked {cost['requests']:,} (stored already {cost['stored']:,}, sent again {cost['retries']:,}): "
            f"{cost['prompt_tokens']:,} tokens in, {cost['completion_tokens']:,} out"
        )
