"""Our lexical verb contrasts beside the released language-model ones, on the same captions.

    MSRVTT=annotations RELEASED_SETS=sets python benchmarks/verb_sets.py

Needs the folders of MSR-VTT's annotations (variable MSRVTT) and of the released sets (variable RELEASED_SETS). The
captions are the true captions of the 2,554 released items; ours are built with MSR-VTT's training captions, the video's
other captions as siblings, the tagger HanTa and seed 0.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from parts.command_line import parser_of

from video_contrast.audit.blind_audit import audit
from video_contrast.builders.assembly.difference import changed_words, difference
from video_contrast.builders.sources.released import read_released
from video_contrast.perturbations.contrast import Edit, verb
from video_contrast.perturbations.contrast.phrases import verb_lemmas
from video_contrast.perturbations.language import lemma, tag
from video_contrast.rows import multiple_choice_row

TAGGER = "hanta"
SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2))


def main() -> None:
    parser_of(__doc__).parse_args()
    missing = [name for name in ("MSRVTT", "RELEASED_SETS") if name not in os.environ]
    if missing:
        print(f"left out: set {' and '.join(missing)} (folders of MSR-VTT's annotations and of the released sets)")
        return
    annotations, released = (Path(os.environ[name]) for name in ("MSRVTT", "RELEASED_SETS"))
    train = json.loads((annotations / "train_val_videodatainfo.json").read_text("utf-8"))["sentences"]
    videos: dict[str, list[str]] = defaultdict(list)
    for sentence in json.loads((annotations / "test_videodatainfo.json").read_text("utf-8"))["sentences"]:
        videos[sentence["video_id"]].append(sentence["caption"])
    items = read_released(released / "msrvtt_lm_contrast_set.tsv")
    captions, clips = [item.candidates[item.label] for item in items], [item.clip for item in items]
    theirs = [
        difference(caption, item.candidates[item.contrast()], "t5")
        for caption, item in zip(captions, items, strict=True)
    ]
    used = {
        clip: frozenset[str]().union(
            *(verb_lemmas(t) for t in tag([c for c in videos[clip] if c != own], tagger=TAGGER))
        )
        for clip, own in zip(clips, captions, strict=True)
    }
    ours, counts = verb.contrasts(
        captions,
        clips,
        siblings=[videos[clip] for clip in clips],
        train_captions=[sentence["caption"] for sentence in train],
        tagger=TAGGER,
    )
    columns = {
        "released, T5": _facts(captions, clips, theirs, used),
        "ours, lexical": _facts(captions, clips, ours, used),
    }
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in next(iter(columns.values())):
        print(f"| {name} | {' | '.join(facts[name] for facts in columns.values())} |")
    print("\n" + ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))


def _facts(
    captions: Sequence[str], clips: Sequence[str], edits: Sequence[Edit | None], used: dict[str, frozenset[str]]
) -> dict[str, str]:
    contrasts = [(c, v, e) for c, v, e in zip(captions, clips, edits, strict=True) if e is not None]
    shapes = Counter(changed_words(caption, edit.text) for caption, _, edit in contrasts)
    single = [edit for caption, _, edit in contrasts if changed_words(caption, edit.text) == (1, 1)]
    agree = sum(_ending(edit.old) == _ending(edit.new) for edit in single)
    tagged = tag([edit.text for _, _, edit in contrasts], tagger=TAGGER)
    contradicted = 0
    for (_, clip, edit), tokens in zip(contrasts, tagged, strict=True):
        inside = [t for t in tokens if t.start >= edit.start and t.end <= edit.start + len(edit.new)]
        verbs = {t.lemma for t in inside if t.tag.startswith("VB")} or {lemma(t.text, "VB") for t in inside[:1]}
        contradicted += bool(verbs & used[clip])
    rows = [
        multiple_choice_row(
            id=clip, video_id=clip, video_path=f"{clip}.mp4", candidates=[caption, edit.text], label=0,
            kinds=["true", "verb_lm"],
        )
        for caption, clip, edit in contrasts
    ]  # fmt: skip
    blind = audit(rows)
    n = len(contrasts)
    facts = {"captions with a contrast": f"{n:,} of {len(captions):,}"}
    for shape in SHAPES:
        facts[f"words replaced {shape[0]} to {shape[1]}"] = f"{shapes[shape] / n:.1%}"
    facts["other shapes"] = f"{1 - sum(shapes[shape] for shape in SHAPES) / n:.1%}"
    facts["antonyms"] = f"{sum(edit.antonym for _, _, edit in contrasts) / n:.1%}"
    facts["one-word edits that keep the ending (-ing, -ed, -s)"] = f"{agree / len(single):.1%}"
    facts["verb used by a sibling caption"] = f"{contradicted / n:.1%}"
    for shown, scorer in (
        ("blind classifier", blind["blind"]), ("trigram model", blind["language_model"]),
        ("shorter wins", blind["shorter_wins"]),
    ):  # fmt: skip
        facts[f"{shown} (chance 50 %)"] = f"{scorer['accuracy']:.1%} +- {scorer['standard_error']:.1%}"
    return facts


def _ending(word: str) -> str:
    return next((ending for ending in ("ing", "ed", "s") if word.endswith(ending)), "")


if __name__ == "__main__":
    main()
