"""`video-contrast audit DIR [CONFIG ...] [--refine]`: how far do the texts alone go?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from video_contrast.console import AsJson, Quiet, hush, print_json


def add(app: typer.Typer) -> None:
    """Adds the command `audit`."""
    app.command(
        "audit",
        short_help="How far do the texts alone go, without the video?",
        epilog="Example: video-contrast audit sets/shapes verb_mc",
    )(audit)


def audit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the set.")],
    configs: Annotated[
        list[str] | None, typer.Argument(help="Which configs; all multiple-choice ones by default.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split to audit; default: test, else the first.")] = None,
    refine: Annotated[
        bool, typer.Option(help="Also write CONFIG_refined, cut until blind scores are symmetric.")
    ] = False,
    language_model: Annotated[str | None, typer.Option(help="A causal LM whose likelier caption wins.")] = None,
    seed: Annotated[int, typer.Option(help="Of the folds and of the refinement.")] = 0,
    device: Annotated[str, typer.Option(help="Where the language model runs.")] = "auto",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Audit a set blindly: accuracy of scorers that never see the video. Written to set.json and the card."""
    hush(quiet)
    from video_contrast.audit import set_audit as auditing

    results = auditing.audit_set(
        folder, configs, split=split, refine=refine, language_model=language_model, seed=seed, device=device
    )
    if as_json:
        print_json(results)
        return
    for config, facts in results.items() if not quiet else ():
        _print(config, facts)


def _print(config: str, facts: dict[str, Any]) -> None:
    print(f"{config} ({facts['split']}): {facts['items']} items, against {', '.join(facts['against'])}, "
          f"chance {facts['chance']:.3f}")  # fmt: skip
    for name, label in (
        ("blind", "blind classifier"),
        ("language_model", "trigram model"),
        ("large_language_model", "language model"),
        ("shorter_wins", "shorter wins"),
        ("longer_wins", "longer wins"),
    ):
        if name in facts:
            print(f"  {label:18} {facts[name]['accuracy']:.3f} +- {facts[name]['standard_error']:.3f}")
    if "note" in facts:
        print(f"  {facts['note']}")
    if "refined" in facts:
        kept = facts["refined"]
        print(f"  refined: {kept['items_after']} of {kept['items_before']} items in {config}_refined")
