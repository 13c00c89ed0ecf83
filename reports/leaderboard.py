"""A leaderboard of runs: models by kind of contrast, with the ranks that paired tests leave open, as a static site.

Every figure is computed from the stored scores. A rank is a range, by paired sign-flip tests over source videos,
Holm-corrected over all pairs of a column: the true ranks of all models are in theirs with 95 % probability at least
(Mogstad, Romano, Shaikh and Wilhelm, 2024, "Inference for Ranks", section 3). A group holds the models that a chain of
pairs connects which no test tells apart. Certificates lie in a run's folder or in `certificates` beside it.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase

import numpy as np

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, write_text
from video_contrast.golden import CAPTIONS, CERTIFICATES, GOLDEN
from video_contrast.metrics import Interval, cluster_bootstrap, holm, share_interval, sign_flip
from video_contrast.reports.layout import DASH, Cell, Section, Table, columns, percent, row, share_cell, with_own_names
from video_contrast.reports.runs import (
    SIGNIFICANT,
    ConfigRun,
    ItemHits,
    SetKey,
    caption_hits,
    kind_hits,
    load_runs,
    set_on_disk,
)
from video_contrast.reports.why_differ import certificate_side, compare, failed_stage
from video_contrast.reports.why_differ.tolerances import GREY_LEVELS, summary_gap
from video_contrast.reports.write import Page, records, render_page, settings, warnings
from video_contrast.runner.conditions import Visual
from video_contrast.runner.recompute import contradictions
from video_contrast.runner.sets import load_set
from video_contrast.runner.traces import summary
from video_contrast.runner.views import Sampling, views_of
from video_contrast.storage.certificates import certificates_in, is_of
from video_contrast.storage.run_figures import kind_in_words
from video_contrast.storage.run_folder import CLEAN

RETRIEVAL = "text to video R@1"
RANDOM = "random"
OVERALL = "mean over kinds"
STATIC_SPACE = "sdk: static"  # in the README.md of a site
LISTED = 8  # contradictions that are named


@dataclass(frozen=True)
class Standing:
    """A model in one column of a leaderboard."""

    accuracy: float  # share of items whose true candidate scores highest, ties as shares
    low: float | None  # its 95 % interval over source videos; None below five
    high: float | None
    n: int  # items
    first: int  # the best and the worst rank that the paired tests leave open
    last: int
    group: str  # a letter; models of different groups are told apart, every one from every other

    @property
    def ranks(self) -> str:
        """The ranks as text: "2", or "2–4" where several are open."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    def cell(self, chance: float | None = None, note: str = "") -> Cell:
        """The accuracy as a cell of a table."""
        return share_cell(self.accuracy, self.low, self.high, chance=chance, note=note)


@dataclass(frozen=True)
class KindHits:
    """The results of models in one column."""

    kind: str  # of contrast
    hits: Mapping[str, ItemHits]  # by model
    chance: float  # accuracy of a scorer that knows nothing


Board = dict[str, dict[str, Standing]]  # column -> model -> standing, the best first


def leaderboard(
    runs: Sequence[str | Path], output: str | Path, *, link: str = "", dataset: str | Path | None = None,
    checked: bool = False, title: str = "Contrast sets: leaderboard",
) -> Path:  # fmt: skip
    """Writes the site: `index.html`, `leaderboard.json`, and a README.md that makes it a static Space.

    Returns the page, which says whether `check_runs` has passed. Runs below its folder are linked; with `link`, a web
    address, their paths relative to the first folder given stand behind that. `dataset`: where the set lies, if it was
    moved. Raises UsageError: no runs, none with a clean condition, `link` is no web address, or `output` has a
    README.md of another kind; VideoContrastError: a run cannot be read.
    """
    import jinja2

    if link and not link.startswith(("https://", "http://")):
        raise UsageError(f"--link {link!r} is no web address (https://...)")
    readme = Path(output) / "README.md"
    if readme.is_file() and STATIC_SPACE not in readme.read_text(encoding="utf-8", errors="replace"):
        raise UsageError(f"{readme} is not of a static Space and would be lost; give --output a folder of its own")
    board_runs = [run for run in load_runs([Path(run) for run in runs], dataset=dataset) if CLEAN in run.conditions]
    if not board_runs:
        raise UsageError("none of these runs has a clean condition")
    kinds = board_columns(board_runs)
    board = {name: standings(column.hits) for name, column in kinds.items()}
    board = ({OVERALL: overall} if (overall := overall_standings(list(kinds.values()))) else {}) | board
    target = Path(output)
    links = {run.path: _link(run, target, Path(runs[0]), link) for run in board_runs}
    chances = {name: column.chance for name, column in kinds.items()}
    overview = Section("board", "Leaderboard", parts=[_overview(board, chances, board_runs, links)])
    sections = [overview, _ranks(board, board_runs), settings(board_runs, links)]
    checks = "Scores were recomputed and checked against their set" if checked else "Scores were not checked (--check)"
    counts = f"{counted(len({run.model for run in board_runs}), 'model')}, {counted(len(kinds), 'column')}. {checks}"
    name, column = next(iter(board.items()))
    *first, last = [model for model, own in column.items() if own.first == 1]
    share = percent(next(iter(column.values())).accuracy)
    leaders = f"{last} leads, {name} {share}: better than every other model by the paired test."
    if first:
        leaders = f"{', '.join(first)} and {last} may each be first, {name} up to {share}: no test tells them apart."
    page = Page(title, counts, leaders, warnings(board_runs), record=records(board_runs))
    content = {name: {model: asdict(own) for model, own in column.items()} for name, column in board.items()}
    write_text(target / "leaderboard.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    card = jinja2.Template((files("video_contrast.reports") / "leaderboard.md.jinja").read_text(encoding="utf-8"))
    write_text(readme, card.render(title=title) + "\n")
    return write_text(target / "index.html", render_page(page, with_own_names(sections), folder=True))


def check_runs(runs: Sequence[str | Path], *, dataset: str | Path | None = None) -> int:
    """Computes every figure of runs from their stored scores again, and holds these against the set.

    Returns how many runs were checked. Certificates that lie with the runs are held against the golden clips, the run's
    weights, and the package's own. `runs`: folders of runs, or folders that hold some. `dataset`: where the set lies,
    if it was moved. Raises UsageError: no runs; VideoContrastError: something does not match; the message lists all of
    it.
    """
    own = {run.path: run for run in load_runs([Path(run) for run in runs], dataset=dataset)}
    lines = []
    for path, run in own.items():
        set_folder = set_on_disk(run.key.dataset)  # the set of a packaged builder lies in the cache
        of_set = contradictions(run.folder, run.key.dataset if set_folder is None else set_folder.path)
        lines += [f"{path}: {line}" for line in (*of_set, *contradicted(run))]
    if lines:
        rest = [f"and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
        title = f"refused, {counted(len(lines), 'contradiction')}:"
        raise VideoContrastError("\n".join([title, *lines[:LISTED], *rest]))
    return len(own)


def board_columns(runs: Sequence[ConfigRun]) -> dict[str, KindHits]:
    """The columns by name: in each the true candidate stands against the candidates of one kind alone.

    Random candidates are a column of configs that hold nothing else. A kind that several configs have is a column of
    each; so is one of several sets.
    """
    hits: dict[tuple[str, SetKey], dict[str, ItemHits]] = {}
    chance: dict[tuple[str, SetKey], float] = {}
    for run in runs:
        if run.layout == "retrieval":
            column = (RETRIEVAL, run.key)
            hits.setdefault(column, {})[run.model] = own = caption_hits(run.matrix(CLEAN))
            chance[column] = 1 / len(own.clusters.unique())
            continue
        of_run = kind_hits(run.folder, run.key.config)
        kinds = of_run.keys() - {""}
        for kind in sorted(kinds - {RANDOM} or kinds):
            hits.setdefault((kind, run.key), {})[run.model], chance[kind, run.key] = of_run[kind]
    names = [kind for kind, _ in hits]
    return {
        kind_in_words(kind) + f" ({key.short})" * (names.count(kind) > 1): KindHits(kind, models, chance[kind, key])
        for (kind, key), models in hits.items()
    }


def standings(models: Mapping[str, ItemHits]) -> dict[str, Standing]:
    """The models of one column, the best first.

    `models`: what each got right. Two models are tested on the items that both have.
    """
    changes = {}
    for a, b in combinations(models, 2):
        here, there = models[a].common(models[b])
        changes[a, b] = models[b].values[there] - models[a].values[here], models[a].clusters.take(here).to_pylist()
    intervals = {name: (share_interval(own.values, own.clusters), len(own.values)) for name, own in models.items()}
    return _ranked(intervals, changes)


def overall_standings(columns: Sequence[KindHits]) -> dict[str, Standing]:
    """The mean over the kinds of contrast that all models have, in which each counts alike; {} for fewer than two."""
    models = list(dict.fromkeys(model for column in columns for model in column.hits))
    contrasts = [column.hits for column in columns if column.kind not in (RETRIEVAL, RANDOM)]
    whole = [[hits[model] for model in models] for hits in contrasts if hits.keys() == set(models)]
    if len(whole) < 2:
        return {}
    places = [column[0].common(*column[1:]) for column in whole]
    clusters = [
        name for column, at in zip(whole, places, strict=True) for name in column[0].clusters.take(at[0]).to_pylist()
    ]
    sizes = np.array([len(at[0]) for at in places])
    total = int(sizes.sum())
    weights = np.repeat(total / (len(whole) * np.maximum(1, sizes)), sizes)
    values = {
        model: weights * np.concatenate([column[n].values[at[n]] for column, at in zip(whole, places, strict=True)])
        for n, model in enumerate(models)
    }
    changes = {(a, b): (values[b] - values[a], clusters) for a, b in combinations(models, 2)}
    return _ranked({model: (cluster_bootstrap(own, clusters), total) for model, own in values.items()}, changes)


def _ranked(
    intervals: Mapping[str, tuple[Interval, int]], changes: Mapping[tuple[str, str], tuple[np.ndarray, Sequence[str]]]
) -> dict[str, Standing]:
    """The models with their ranks and groups, the best first.

    `intervals`: model -> its accuracy, and the number of its items. `changes`: pair of models -> what the second has
    more than the first on each item of both, and the source videos of these.
    """
    p_values = [sign_flip(*change) if len(change[0]) else 1.0 for change in changes.values()]
    adjusted_p = holm(p_values).tolist() if p_values else []
    above = dict.fromkeys(intervals, 0)  # how many are better than the model
    below = dict.fromkeys(intervals, 0)
    group = {model: {model} for model in intervals}
    for ((a, b), (change, _)), p in zip(changes.items(), adjusted_p, strict=True):
        if p >= SIGNIFICANT:
            both = group[a] | group[b]
            group.update(dict.fromkeys(both, both))
            continue
        better, worse = (b, a) if change.sum() > 0 else (a, b)
        above[worse] += 1
        below[better] += 1
    groups = {frozenset(own): min(above[model] for model in own) for own in group.values()}
    letter = {model: _letters(n) for n, own in enumerate(sorted(groups, key=groups.__getitem__)) for model in own}
    rows = {}
    for model, (own, n) in intervals.items():
        (low, high), first, last = own.bounds, 1 + above[model], len(intervals) - below[model]
        rows[model] = Standing(own.estimate, low, high, n, first, last, letter[model])
    return dict(sorted(rows.items(), key=lambda row: (-row[1].accuracy, row[0])))


def _letters(number: int) -> str:
    """A, B ... Z, AA, AB ... for 0, 1 ..."""
    before = "" if number < len(ascii_uppercase) else _letters(number // len(ascii_uppercase) - 1)
    return before + ascii_uppercase[number % len(ascii_uppercase)]


def _link(run: ConfigRun, site: Path, first: Path, link: str) -> str:
    """The link to a run's page; "" where the site cannot lead to it."""
    path, root = run.path.resolve(), site.resolve()
    if link:
        return f"{link.rstrip('/')}/{os.path.relpath(path, first.resolve())}".replace(os.sep, "/")
    return f"{path.relative_to(root).as_posix()}/RESULTS.md" if path.is_relative_to(root) else ""


def _overview(board: Board, chance: Mapping[str, float], runs: Sequence[ConfigRun], links: Mapping[Path, str]) -> Table:
    link_of = {run.model: links[run.path] for run in reversed(runs)}
    models = list(dict.fromkeys([*next(iter(board.values())), *link_of]))
    baselines = {run.model for run in runs if run.is_baseline}
    notes = {run.model: words for run in runs if (words := certified(run))}
    rows = [
        [Cell(model, tone="quiet" if model in baselines else "", link=link_of[model], note=notes.get(model, ""))]
        + [
            column[model].cell(chance.get(name), f"rank {column[model].ranks}") if model in column else DASH
            for name, column in board.items()
        ]
        for model in models
    ]
    chances = [f"{100 * chance[name]:.1f}" if name in chance else None for name in board]
    rows.append(row(Cell("chance", tone="quiet"), *chances))
    note = (
        "The true caption against the candidates of one kind alone, ties as shares. Small: the 95 % interval over "
        "source videos, and the ranks that paired tests leave open (Holm-corrected). "
        f"Rows are ordered by {next(iter(board))}."
    )
    return Table("leaderboard", "Accuracy by kind of contrast, %", columns("model", *board), rows, note=note)


def _ranks(board: Board, runs: Sequence[ConfigRun]) -> Section:
    section = Section.of("ranks")
    heads = columns("rank", "group", "model", "accuracy, %", "items", words=3)
    baselines = {run.model for run in runs if run.is_baseline}
    for name, column in board.items():
        rows = []
        for model, own in column.items():
            rank = Cell(own.ranks, tone="quiet" if model in baselines else "")
            rows.append(row(rank, own.group, model, own.cell(), Cell(f"{own.n:,}", float(own.n))))
        section.add([Table(f"ranks-{name.replace(' ', '-')}", name, heads, rows)], name)
    return section


MOST_FRAMES = 768  # of a clip that are decoded at the word of a certificate


def certified(run: ConfigRun) -> str:
    """The note in a model's row on the first certificate that it has; "" where none is known."""
    certificates = certificates_in(run.path, run.path.parent / "certificates", CERTIFICATES)
    own = (certificate for _, certificate in certificates if is_of(certificate, run.record))
    model = next((one["model"] for one in own if not _other_weights(one, run)), None)
    return f"certified: revision {model['revision'][:12]}, {model['dtype']}" if model else ""


def contradicted(run: ConfigRun) -> Iterator[str]:
    """The objections to the certificates that lie in a run's folder or beside it, a line each.

    Raises VideoContrastError: a certificate is damaged.
    """
    own = [certificate for _, certificate in certificates_in(CERTIFICATES) if is_of(certificate, run.record)]
    if any(_other_weights(certificate, run) for certificate in own):
        yield "its weights are not those of the package's certificate of this revision"
    for path, certificate in certificates_in(run.path):
        if not is_of(certificate, run.record):
            yield f"{path.name} is a certificate of another revision, kind, options or dtype"
    for path, certificate in certificates_in(run.path, run.path.parent / "certificates"):
        if is_of(certificate, run.record):
            try:
                yield from (f"{path.name}: {line}" for line in _faults(certificate, run, own))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise VideoContrastError(f"{path} is no whole certificate: {error!r}") from error


def _other_weights(certificate: Json, run: ConfigRun) -> bool:
    weights = run.folder.evidence.get("network", {}).get("weights")
    return bool(weights and certificate["model"].get("weights") != weights)


def _faults(certificate: Json, run: ConfigRun, packaged: list[Json]) -> Iterator[str]:
    side = certificate_side(certificate, "it")
    if _other_weights(certificate, run):
        yield "its weights are not those of the run"
    for own in packaged:
        if stage := failed_stage(compare(side, certificate_side(own, "the package's"))):
            yield f"it differs from the package's certificate in the {stage.stage}: {stage.says}"
    golden = {item.clip.name: item for item in load_set(CAPTIONS, None, "test").groups[0].items}
    if not {(name, item.texts[item.label]) for name, item in golden.items()} <= side.traces.keys():
        yield "it lacks some of the golden eight"
    sampling = Sampling(**certificate["sampling"])
    if sampling.frames > MOST_FRAMES:
        yield f"it claims {sampling.frames} frames a clip"
        return
    for (name, _), trace in side.traces.items():
        if name not in golden:
            yield f"its clip {name!r} is none of the golden eight"
            continue
        view = next(views_of(GOLDEN, golden[name].clip, (Visual(),), sampling))
        if summary_gap(summary(view.frames), trace["frames"]) > GREY_LEVELS:
            yield f"its frames of {name} are not those of the golden clip"
        if not np.allclose(view.times, trace["times"], atol=2e-3):
            yield f"its times of {name} are not those of the golden clip"
