"""`video-contrast xray WHAT ...`: can a benchmark be won without its videos, and what else is wrong with it?"""

from pathlib import Path
from typing import Annotated

from video_contrast.audit.item_checks import TokenCount
from video_contrast.audit.records import XrayRecord
from video_contrast.commands.command import command
from video_contrast.console import AsJson, is_quiet, print_json
from video_contrast.errors import unknown_name
from video_contrast.options import POSITIVE, Configs, Device, Range, Seed, names_in
from video_contrast.reports.xray_input import Against, XraySource
from video_contrast.storage.table_columns import TableColumns

_NOT_CUT = ("common_position", "large_language_model")  # blind models that refinement does not cut by


@command("xray", "video-contrast xray sets/shapes --config antonym_mc")
def xray(
    what: Annotated[list[str], "folders of sets, tables (json, jsonl, csv, tsv, parquet, xlsx), logs, or Hub ids"],
    *,
    columns: TableColumns,
    config: Configs = None,
    split: Annotated[str | None, "split to X-ray; default: test, else the first"] = None,
    against: Annotated[Against, "negatives that count; auto: the contrasts, where there are any"] = "auto",
    scores: Annotated[list[Path] | None, "runs or logs on the set, of one model each; repeat the flag"] = None,
    language_model: Annotated[str | None, "causal language model (Hub id or folder), as one more blind model"] = None,
    tokenizer: Annotated[str | None, "tokenizer that counts tokens (Hub id or folder); default: a lower bound"] = None,
    token_limit: Annotated[int, "tokens of a caption that models read, at most", Range(1)] = 77,
    points: Annotated[float, "difference of two models that the set should be able to show, in points", POSITIVE] = 5.0,
    strict: Annotated[bool, "refuse a table with a faulty row; default: such rows are counted and left out"] = False,
    refine: Annotated[bool, "also write the part that no blind model wins, as a set"] = False,
    seed: Seed = 0,
    device: Device = "auto",
    output: Annotated[Path, "folder of the page, the JSON, the certificates and refined sets"] = Path("xray"),
    as_json: AsJson = False,
) -> None:
    """Can a benchmark be won without its videos, and what else is wrong with it?

    Blind models with intervals, copies, leaks, suspected labels, power; one page, JSON and a certificate for the card.
    """
    from video_contrast.audit.xray import xray as xrayed
    from video_contrast.commands.audit import loaded_language_model
    from video_contrast.reports.xray_input import answers_of, open_sources
    from video_contrast.reports.xray_page import screen, side_by_side, write_xray

    model = loaded_language_model(language_model, device)
    count = _tokens(tokenizer, token_limit)
    records: dict[str, XrayRecord] = {}
    configs = names_in(config)
    for place in what:
        for source in open_sources(place, configs, split=split, columns=columns, against=against, strict=strict):
            if split is not None and split not in source.splits:
                raise unknown_name(f"split of {source.name}", split, list(source.splits))
            part = split or ("test" if "test" in source.splits else next(iter(source.splits)))
            answers = answers_of(scores or [], source, part)
            record = xrayed(
                source.splits, split=part, answers=answers, language_model=model, tokens=count, points=points, seed=seed
            )
            record["source"] = {"read": place, "guesses": source.guesses, "left_out": source.left_out}
            if refine:
                record["refined"] = _refined(source, record, output, seed)
            records[source.name] = record
    page = write_xray(records, output)
    if as_json:
        print_json(records)
    elif not is_quiet():
        for name, record in records.items():
            print("\n".join(screen(name, record, brief=len(records) > 1)))
            if refine:
                print(f"refined: {record['refined']['text']}")
            print()
        if len(records) > 1:
            print(side_by_side(records) + "\n")
        print(f"written to {page}")


def _tokens(tokenizer: str | None, limit: int) -> TokenCount:
    if tokenizer is None:
        return TokenCount(limit=limit)
    from transformers import AutoTokenizer

    from video_contrast.pretrained import load

    tokens_of = load(tokenizer, AutoTokenizer, "--tokenizer")
    return TokenCount(lambda text: len(tokens_of(text)["input_ids"]), f"those of {tokenizer}", limit)


def _refined(source: XraySource, record: XrayRecord, output: Path, seed: int) -> dict[str, object]:
    """Writes the part of a set on which its two strongest blind models say nothing, as a set of its own.

    The place of the key is not among them: shuffling the candidates mends it, leaving items out does not.
    """
    from video_contrast.audit.blind_audit import audit, in_percent, strongest_first, whole_groups
    from video_contrast.audit.refined_cut import refine
    from video_contrast.hub_cards import write_card
    from video_contrast.reports.xray_page import file_name
    from video_contrast.storage import SetDraft

    splits, facts = {}, {}
    for name, rows in source.splits.items():
        keys = [model["key"] for model in record["blind"]["models"] if model["key"] not in _NOT_CUT]
        refined_rows, facts[name] = refine(rows, seed=seed, by=(keys[0], keys[1]) if len(keys) > 1 else None)
        if refined_rows := whole_groups(refined_rows):
            splits[name] = refined_rows
    if not splits:
        return {"text": f"no item of {source.name} stays", "splits": facts}
    folder = output / f"{file_name(source.name)}_refined"
    draft = SetDraft(folder, "xray")
    draft.add("refined", splits, {"refined_from": source.name, "splits": facts})
    summary = f"The part of {source.name} on which two blind scores say nothing."
    draft.record["facts"] = {"summary": summary, "seed": seed}
    write_card(draft.save())
    left = splits.get(record["split"]) or next(iter(splits.values()))
    best, won = strongest_first(audit(left, seed=seed))[0]
    counts = ", ".join(f"{name} {len(rows):,} of {len(source.splits[name]):,} items" for name, rows in splits.items())
    text = f"{counts} in {folder}; there the best blind model ({best}) wins {in_percent(won)}"
    return {"text": text, "splits": facts, "folder": str(folder), "best": best, "best_accuracy": won["accuracy"]}
