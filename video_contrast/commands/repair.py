"""`video-contrast repair WHAT --output SET`: new distractors where a set is won without its videos."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import EditOptions, Generator
from video_contrast.commands.command import command
from video_contrast.console import AsJson, is_quiet, print_json, say
from video_contrast.errors import UsageError
from video_contrast.files import write_bytes
from video_contrast.options import Seed, names_in
from video_contrast.reports.xray_input import Against
from video_contrast.storage.table_columns import TableColumns


@command("repair", "video-contrast repair sets/shapes --config verb_mc --output repaired")
def repair(
    what: Annotated[str, "folder of a set, table (json, jsonl, csv, tsv, parquet, xlsx), or id of the Hub"],
    *,
    columns: TableColumns,
    output: Annotated[Path, "folder of the repaired set with all that belongs to it; or the file of --apply"],
    apply: Annotated[Path | None, "errata.json of a repair: write the authors' file WHAT with them applied"] = None,
    config: Annotated[str | None, "config of a folder or data set that has several"] = None,
    against: Annotated[Against, "negatives that count; auto: the contrasts, where there are any"] = "auto",
    kinds: Annotated[list[str] | None, "kinds of edits of captions (verb, object, count ...); default: all"] = None,
    generator: Annotated[Generator, "what proposes verbs in captions"] = "lexicon",
    options: EditOptions = EditOptions(quality="0.5"),  # noqa: B008  frozen
    sample: Annotated[int, "old, and new, distractors on the page for readers"] = 60,
    votes: Annotated[list[str] | None, "files of readers of that page, comma-separated: figures for the card"] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Replace distractors of items that are won without the video; all else stays.

    Writes the set, errata against the authors' file, the X-ray before and after, and a page for readers.
    """
    from video_contrast.audit.new_distractors import EDIT_KINDS, DistractorEdits
    from video_contrast.builders.assembly.word_contrasts import WordProposals
    from video_contrast.reports.repair import write_repair
    from video_contrast.reports.xray_input import open_sources
    from video_contrast.reports.xray_page import side_by_side
    from video_contrast.storage.errata import corrected, read_errata

    path = Path(what).expanduser()
    if apply is not None:
        errata = read_errata(apply)
        content = corrected(errata, path)
        if output.exists() and (not output.is_file() or output.samefile(path)):
            raise UsageError(f"--output {output} must be a new file")
        write_bytes(output, content)
        say(f"{output}: {path.name} with {len(errata.errata):,} errata applied")
        return
    if sample < 0:
        raise UsageError(f"--sample {sample} must not be below 0")
    sources = open_sources(what, names_in(config), columns=columns, against=against)
    if len(sources) > 1:
        names = ", ".join(source.config or source.name for source in sources)
        raise UsageError(f"{what} has several configs: name one by --config ({names})")
    proposals = WordProposals(generator=generator, options=options)
    edits = DistractorEdits(names_in(kinds) or EDIT_KINDS, options.quality, proposals.model)
    read = [Path(name) for name in names_in(votes) or ()]
    records, summary = write_repair(sources[0], output, edits, sample=sample, votes=read, seed=seed)
    if as_json:
        print_json(records)
    elif not is_quiet():
        print(side_by_side(records))
    say(summary)
    say(f"{output}: the repaired set; errata.json, xray/index.html, reading/page.html")
