"""A run's results in the Hub's formats: `.eval_results/*.yaml`, the older model-index, and a card.

They are written into the run's directory, always, from its stored metrics; sending them to a model's repository is
another step (`video-contrast push RUN MODEL`), by default as a pull request, since the model is mostly another's.
"""

import re
from pathlib import Path

import yaml

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.hub_cards import publishing
from video_contrast.hub_cards.dataset import task_ending
from video_contrast.hub_cards.markdown import render
from video_contrast.storage import RunFolder, run_notes
from video_contrast.storage.run_figures import MAIN, FigureKey, RunNumbers, leading
from video_contrast.storage.run_file_fields import RunRecord
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.run_settings import SEE_NOTHING, beside_owner, setting_lines

_RECALL = leading("retrieval").name
_NAME_LENGTH = 60  # of a set in a file's name: file systems take 255 bytes, and a character may be four of them
Result = dict[str, Json]  # of `results_of`


def results_of(run: str | Path, dataset: str | None = None) -> list[Result]:
    """A run's clean figures, one entry a config and score, in percent.

    Returns of each `dataset`, `config`, `split`, `task`, `metric`, `value`, `low`, `high` (None without an interval),
    `items`, `chance`, and `unparseable`: what stands beside the value where answers could not be read.

    `dataset`: the set's id on the Hub; by default what the run says (a folder's name, if it was a folder). Raises
    VideoContrastError: not a finished run.
    """
    folder = RunFolder.open(run)
    record, metrics = folder.record, folder.metrics
    figures = RunNumbers.of(metrics["configs"]).figures
    name = dataset or str(record["set"]["dataset"])
    if dataset is None and (Path(name).is_dir() or name.startswith(("/", ".", "~"))):
        name = Path(name).name
    return [
        {
            "dataset": name,
            "config": config,
            "split": str(record["set"]["split"]),
            "task": f"{config}{task_ending(score)}",
            "metric": score.words.replace(" to ", "-to-"),
            "value": round(100 * figure.value, 2),
            "low": None if figure.low is None else round(100 * figure.low, 2),
            "high": None if figure.high is None else round(100 * figure.high, 2),
            "items": figure.n or 0,
            "chance": round(100 * (figure.chance or 0.0), 2),
            "unparseable": figure.mark,
        }
        for config, entry in sorted(metrics["configs"].items())
        for score in MAIN[entry["layout"]]
        if (figure := figures.get(FigureKey(config, CLEAN, score)))
    ]


def write_results(run: str | Path, dataset: str | None = None) -> list[Path]:
    """Writes `.eval_results/<set>.yaml`, `model-index.yaml` and `RESULTS.md` into a run's directory.

    Equal metrics give equal bytes. A run without a clean condition has nothing to report, and gets no file.
    """
    folder = RunFolder.open(run)
    results, record = results_of(run, dataset), folder.record
    if not results:
        return []
    name = re.sub(r"[^\w.-]+", "-", results[0]["dataset"])[:_NAME_LENGTH]
    entries, index = (
        yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)
        for value in (eval_results(results, record), {"model-index": model_index(results, record)})
    )
    return folder.write_results(name, eval_results=entries, model_index=index, card=result_card(results, record))


def eval_results(results: list[Result], record: RunRecord) -> list[dict[str, object]]:
    """The entries of `.eval_results/*.yaml`."""
    return [
        {"dataset": {"id": r["dataset"], "task_id": r["task"]}, "value": r["value"], "notes": _notes(r, record)}
        for r in results
    ]


def model_index(results: list[Result], record: RunRecord) -> list[dict[str, object]]:
    """The `model-index` of a model's card."""
    entries = [
        {
            "task": {"type": "video-text-to-text", "name": r["task"]},
            "dataset": {"type": r["dataset"], "name": r["dataset"], "config": r["config"], "split": r["split"]},
            "metrics": [
                {
                    "type": "recall" if _RECALL in r["metric"] else r["metric"].replace(" ", "_"),
                    "value": r["value"],
                    # a metric has a name without numbers here: leaderboards group by it
                    "name": r["metric"].replace(_RECALL, "recall at first rank"),
                    "args": _arguments(r, record),
                }
            ],
        }
        for r in results
    ]
    return [{"name": str(record["model"]["name"]).rstrip("/").rpartition("/")[2], "results": entries}]


def result_card(results: list[Result], record: RunRecord) -> str:
    """The card of a run's results, as markdown."""
    tested, settings = run_notes.self_test_lines(record), setting_lines(record)
    return render("results.md.jinja", results=results, record=record, tested=tested, settings=settings)


def check_whole(run: str | Path, max_missing: float | None = None) -> None:
    """Refuses a run over a part of its set: its figures would stand beside those of the whole set.

    `max_missing`: the share of its clips that may be missing; none by default. Raises UsageError: the run was scored
    with `limit`, or `max_missing` is no share; TooManyMissing: more clips are missing.
    """
    run_notes.check_share(max_missing)
    record = RunFolder.open(run).record
    if isinstance(limit := record.get("request", {}).get("limit"), int):
        raise UsageError(
            f"{run} is a trial run on the first {counted(limit, 'clip')} of each config: score without --limit before "
            "its results are published"
        )
    if run_notes.more_missing_than(max_missing or 0, record):
        clip, why = run_notes.first_reason(record) or ("", "")
        first = f" (the first, {clip}: {why})" if clip else ""
        mend = "get the videos, run the same score command again"
        mend = "score with more --frames" if why.startswith(run_notes.UNSEEN) else mend
        share = "SHARE" if max_missing is None else f"above {max_missing:g}"
        or_else = f"; --max-missing {share} publishes them all the same, with the number in their notes"
        raise run_notes.TooManyMissing(
            f"{run}: {run_notes.are_missing(record)}{first}, so its figures are of another set than the one named: "
            f"{mend}, then push{or_else if 'n_clips' in record else ''}"
        )


def push_results(
    run: str | Path, repo: str, *, dataset: str, pull_request: bool = True, max_missing: float | None = None
) -> str:
    """Sends a run's `.eval_results` file to a model's repository; returns the address of the pull request or commit.

    `dataset`: the set on the Hub; results of a set that nobody can load are of no use to others. `max_missing`: the
    share of the run's clips that may be missing; the notes of the results say how many are. Raises UsageError:
    `dataset` is not a name on the Hub, or a trial run; TooManyMissing: more clips are missing than `max_missing`
    allows; VideoContrastError: nothing to report, no permission, no network.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset):
        raise UsageError(f"--dataset must be USER/NAME on the Hub, not {dataset!r}: push the set first")
    check_whole(run, max_missing)
    files = write_results(run, dataset)
    if not files:
        raise VideoContrastError(f"{run}: has no clean condition, so nothing to report")
    return _pushed(files[0], repo, ".eval_results", f"Results on {dataset}", pull_request)


def push_certificate(path: Path, repo: str, *, pull_request: bool = True) -> str:
    """Sends a certificate to a model's repository, under `certificates/`; returns the address.

    `pull_request`: open a pull request instead of writing to the main branch.
    """
    message = "Certificate of what the model gives for the golden eight of video-contrast"
    return _pushed(path, repo, "certificates", message, pull_request)


def _pushed(path: Path, repo: str, folder: str, message: str, pull_request: bool) -> str:
    """Sends a file to a folder of a model's repository; returns the address of the pull request or commit."""
    name = f"{folder}/{path.name}"
    with publishing.explained(repo):
        commit = publishing.client_api().upload_file(
            path_or_fileobj=path, path_in_repo=name, repo_id=repo, commit_message=message, create_pr=pull_request
        )
    return str(commit.pr_url or commit.commit_url)


def _arguments(result: Result, record: RunRecord) -> dict[str, object]:
    """The numbers that a figure of the `model-index` depends on."""
    interval = {} if result["low"] is None else {"interval_low": result["low"], "interval_high": result["high"]}
    counts = {"frames": _frames(record), "missing_clips": record.get("n_missing")}
    arguments = {**interval, "chance": result["chance"], "items": result["items"]}
    return arguments | {name: count for name, count in counts.items() if count}


def _notes(result: Result, record: RunRecord) -> str:
    interval = "" if result["low"] is None else f", 95 % interval {result['low']:g} to {result['high']:g}"
    frames = f", {count} frames" if (count := _frames(record)) else ""
    missing = f", {run_notes.missing_clips(record)} missing" if record.get("n_missing") else ""
    unparseable = f", {result['unparseable']}" if result["unparseable"] else ""
    return (
        f"{result['metric']}, %{interval}, chance {result['chance']:g}, {result['items']} items{unparseable}{frames}"
        f"{missing}{', ' + beside if (beside := beside_owner(record)) else ''}, "
        f"video-contrast {record.get('version', '')}"
    ).strip()


def _frames(record: RunRecord) -> int:
    """The number of frames that the model saw of a clip; 0 of one that sees none, or where the record does not say."""
    unseen = record.get("model", {}).get("kind") in SEE_NOTHING
    return 0 if unseen else record.get("sampling", {}).get("frames") or 0
