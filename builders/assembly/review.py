"""Contrasts that a person judges: the page on which the builder of a set ticks them, its table, and votes.

`build ... --review` writes `review.html` beside the set. What is saved from it, or written by hand, as `review.tsv`
in the same folder decides what the next build puts into the set.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, ClipContrasts, normal
from video_contrast.builders.sources.caption_table import PlacedRow, read_table
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, is_safe_relative
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.perturbations.contrast.judge_votes import ContrastVote
from video_contrast.seeds import digest

PAGE, TICKS = "review.html", "review.tsv"
LEAST = 0.2  # probability of a contrast that is shown, whatever the quality of the build
SHOWN = 6  # contrasts of a clip
VOTES = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Tick:
    """A contrast that a person has taken ("yes") or refused ("no")."""

    place: str
    config: str
    clip: str  # id of the clip or of its video, or the video's file
    caption: str
    contrast: str
    vote: str


# A clip as the page shows it, for one config: names of both (`config`, `clip`), the `video` file, relative to the
# page, with "#t=start,end" where the clip is a span of it, all `captions` of the clip, and `candidates`, best first: of
# each the index of its caption, the contrast, its probability or None.
Card = dict[str, Json]


def read_ticks(path: str | Path, configs: Sequence[str]) -> list[Tick]:
    """Reads rows with `clip` (or `video_id`, `id`), `caption`, `contrast`, and perhaps `config` and `vote` ("yes").

    `path`: a table, as `review.html` saves it. `configs`: that may be named; a row without one is of the only config
    that is built. Raises UsageError: a column is missing; VideoContrastError: an empty cell, an unknown config or vote,
    a contrast that equals its caption, or no row at all; names the line.
    """
    ticks: list[Tick] = []
    for row in read_table(path):
        clip, (caption, contrast) = row.clip_name(), (row.text(k, f"a column {k}") for k in ("caption", "contrast"))
        config, vote = (" ".join(row.texts(key, "")) if key in row.cells else "" for key in ("config", "vote"))
        tick = Tick(row.place, config, clip, caption, contrast, vote or "yes")
        if tick.config not in ("", *configs):
            raise VideoContrastError(f"{row.place}: no contrasts of {tick.config!r}; one of {', '.join(configs)}")
        if tick.vote not in VOTES:
            raise VideoContrastError(f"{row.place}: the vote must be yes or no, not {tick.vote!r}")
        if normal(tick.caption) == normal(tick.contrast):
            raise VideoContrastError(f"{row.place}: the contrast equals the caption: {tick.caption!r}")
        ticks.append(tick)
    if not ticks:
        raise VideoContrastError(f"{path}: no rows")
    return ticks


def known_ticks(ticks: Sequence[Tick], clips: Sequence[CaptionedClip], configs: Sequence[str]) -> list[Tick]:
    """Checks that every tick is of a caption of one of the clips, and returns all with their config.

    Raises UsageError: a tick names no config, and not just one is built; VideoContrastError: one is of no caption, or
    says what another caption of the clip says, or two rows vote differently on the same contrast; names the line.
    """
    if configs != configs[:1] and (unnamed := next((tick for tick in ticks if not tick.config), None)):
        raise UsageError(f"{unnamed.place}: needs a column config where several are built: {', '.join(configs)}")
    captions: dict[str, set[str]] = {}
    for clip in clips:
        for name in clip.names:
            captions.setdefault(name, set()).update(map(normal, clip.captions))
    votes: dict[tuple[str, str, str, str], Tick] = {}
    for tick in ticks:
        key = (tick.config, tick.clip, normal(tick.caption), normal(tick.contrast))
        if (other := votes.setdefault(key, tick)).vote != tick.vote:
            both = f"the vote is {tick.vote}, that of {other.place} {other.vote}"
            raise VideoContrastError(f"{tick.place}: {both}; keep one")
        if tick.clip not in captions:
            raise VideoContrastError(f"{tick.place}: the table of captions has no clip {tick.clip!r}")
        if normal(tick.caption) not in captions[tick.clip]:
            raise VideoContrastError(f"{tick.place}: the clip {tick.clip!r} has no caption {tick.caption!r}")
        if tick.vote == "yes" and normal(tick.contrast) in captions[tick.clip]:
            raise VideoContrastError(f"{tick.place}: another caption of {tick.clip!r} says {tick.contrast!r}")
    return [replace(tick, config=tick.config or configs[0]) for tick in ticks if tick.config or configs]


def ticked_contrasts(ticks: Sequence[Tick], clips: Sequence[CaptionedClip], *, seed: int = 0) -> ClipContrasts:
    """The ticked contrast of each clip, the first of several; clips without one have none.

    `seed`: decides the base caption of a clip, which is counted.
    """
    contrasts = ClipContrasts(clips=len(clips))
    tick_of: dict[tuple[str, str], Tick] = {}
    for tick in ticks:
        if tick.vote == "yes":
            tick_of.setdefault((tick.clip, normal(tick.caption)), tick)
    for clip in clips:
        for name in clip.names:
            keys = ((name, normal(text)) for text in clip.captions)
            own = [(n, tick_of[key]) for n, key in enumerate(keys) if key in tick_of]
            if own and clip.id not in contrasts.edits:
                index, tick = own[0]
                contrasts.base += index == clip.caption_order(seed)[0]
                contrasts.edits[clip.id] = (index, [difference(clip.captions[index], tick.contrast, "review")])
    contrasts.reasons.update({"edited": len(contrasts.edits), "not_ticked": len(clips) - len(contrasts.edits)})
    return contrasts


def cards(config: str, clips: Sequence[CaptionedClip], contrasts: ClipContrasts) -> list[Card]:
    """The cards that the page shows for one config, one a clip."""
    clip_cards = []
    for clip in clips:
        candidates = contrasts.candidates.get(clip.id, [])[:SHOWN]
        span = "" if clip.start is None else f"#t={clip.start:g}" + ("" if clip.end is None else f",{clip.end:g}")
        texts_of = [(index, edit.text, edit.scores.get("probability")) for index, edit in candidates]
        texts, video = [*clip.captions], clip.video_path + span
        clip_cards.append(Card(config=config, clip=clip.id, video=video, captions=texts, candidates=texts_of))
    return clip_cards


def page(clip_cards: Sequence[Card], folder: Path, video_root: Path | None) -> str:
    """The page as one HTML file; a clip without any candidate has one card, on which a contrast can be written.

    `video_root`: where the paths of videos start; None: in the folder.
    """
    of_clip: dict[str, list[Card]] = {}
    for card in clip_cards:
        of_clip.setdefault(card["clip"], []).append(card)
    choices = {clip: [card for card in own if card["candidates"]] for clip, own in of_clip.items()}
    page_cards = [card for clip, own in of_clip.items() for card in choices[clip] or own[:1]]
    start = os.path.relpath(video_root, folder) if video_root is not None else "."
    entries = []
    for card in page_cards:
        path, mark, span = card["video"].partition("#t=")
        address = quote(f"{Path(start).as_posix()}/{path}") + mark + span if is_safe_relative(path) else ""
        entries.append({**card, "video": address})
    name = digest("review", json.dumps(entries, sort_keys=True)).hex()[:12]
    # Captions are strangers' text: "<" never stands in the script as such.
    text = json.dumps({"name": name, "cards": entries}, ensure_ascii=False).replace("<", "\\u003c")
    template = files("video_contrast.builders.assembly").joinpath("review.html").read_text(encoding="utf-8")
    return template.replace("{{ data }}", text)


_CAPTION, _CONTRAST = ("caption", "original"), ("contrast", "edited")
_ANSWERS = {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False, "": None}


def read_votes(path: Path) -> list[ContrastVote]:
    """Reads rows with `caption` (or `original`), `contrast` (`edited`), and `vote` or `natural` and `surely false`.

    A reader each may have columns ("natural 1", "surely false 1", "natural 2" ...); rows without an answer are left
    out. Raises UsageError: a column is missing; VideoContrastError: another answer than yes, no, 1 or 0, an empty
    caption, or one that its contrast equals; names the line.
    """
    votes = []
    for row in read_table(path):
        caption, contrast = (
            row.text(row.usual(None, names), f"a column {names[0]}") for names in (_CAPTION, _CONTRAST)
        )
        if normal(caption) == normal(contrast):
            raise VideoContrastError(f"{row.place}: the contrast equals the caption: {caption!r}")
        readers = [name.removeprefix("natural") for name in row.cells if name.startswith("natural")]
        answers = [(_answer(row, f"natural{reader}"), _answer(row, f"surely false{reader}")) for reader in readers]
        edit = difference(caption, contrast, "vote")
        votes += [ContrastVote(caption, edit, *answer) for answer in answers if answer != (None, None)]
        if not readers and (tick := _answer(row, "vote")) is not None:
            votes.append(ContrastVote(caption, edit, *((True, True) if tick else (None, None))))
    return votes


def _answer(row: PlacedRow, column: str) -> bool | None:
    answer = " ".join(row.texts(column, "columns vote, or natural and surely false")).lower()
    if answer not in _ANSWERS:
        raise VideoContrastError(f"{row.place}: {column} must be yes or no (1 or 0), not {answer!r}")
    return _ANSWERS[answer]
