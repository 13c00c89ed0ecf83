"""`video-contrast audit DATASET [--config CONFIG ...] [--refine]`: the audit of a set, written into its card."""

from typing import Annotated

from video_contrast.audit.blind_audit import in_percent, strongest_first
from video_contrast.audit.records import ConfigAudit
from video_contrast.commands.command import command
from video_contrast.console import AsJson, counted, is_quiet, print_json
from video_contrast.errors import UsageError
from video_contrast.language_model import LanguageModel
from video_contrast.options import Configs, Device, Flag, Seed, SetPath, names_in
from video_contrast.storage.table_columns import TableColumns


@command("audit", "video-contrast audit sets/shapes --config verb_mc")
def audit(
    dataset: SetPath,
    configs: Annotated[Configs, Flag(hidden=True)] = None,
    *,
    config: Configs = None,
    columns: TableColumns,
    split: Annotated[str | None, "split to audit; default: test, else the first"] = None,
    refine: Annotated[bool, "also write CONFIG_refined, cut until blind scores are symmetric"] = False,
    language_model: Annotated[str | None, "causal language model (Hub id or folder): one more blind model"] = None,
    seed: Seed = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """How far do the texts alone go, without the video?

    Accuracy of models that never see the video. Written to set.json and the card. `xray` says more, and of any set.
    """
    from video_contrast.audit.xray import audit_set, config_audit, xray
    from video_contrast.hub_cards import write_card
    from video_contrast.reports.xray_input import open_sources
    from video_contrast.storage import SetFolder

    names, model = names_in(configs, config), loaded_language_model(language_model, device)
    if is_built := SetFolder(dataset).is_built:
        results = audit_set(dataset, names, split=split, refine=refine, language_model=model, seed=seed)
        write_card(SetFolder(dataset))
    elif refine:
        raise UsageError(f"{dataset} has no set.json; `video-contrast xray {dataset} --refine` writes a new set")
    else:  # a table, or a folder without a record: nothing is written
        results = {
            source.name: config_audit(xray(source.splits, split=split, language_model=model, seed=seed))
            for source in open_sources(str(dataset), names, columns=columns, strict=True)
        }
    if as_json:
        print_json(results)
    elif not (is_built and is_quiet()):  # the results stand in the set
        for name, facts in results.items():
            _print(name, facts)


def loaded_language_model(name: str | None, device: str) -> LanguageModel | None:
    """The causal language model of `--language-model`; None where none is named."""
    return None if name is None else LanguageModel(name, device=device)


def _print(config: str, facts: ConfigAudit) -> None:
    print(f"{config} ({facts['split']}): {counted(facts['items'], 'item')}, against {', '.join(facts['against'])}, "
          f"chance {100 * facts['chance']:.1f} %")  # fmt: skip
    for name, accuracy in strongest_first(facts):
        print(f"  {name:18} {in_percent(accuracy)}")
    if "note" in facts:
        print(f"  {facts['note']}")
    if cut := facts.get("refined"):
        print(f"  refined: {cut['items_after']} of {counted(cut['items_before'], 'item')} in {config}_refined")
