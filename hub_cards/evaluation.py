"""`eval.yaml`: registers a set as a benchmark on the Hub, whose tasks are those that `.eval_results` files name."""

from collections.abc import Iterable

from video_contrast.hub_cards.results import task_ending
from video_contrast.storage.run_figures import MAIN
from video_contrast.storage.set_records import SetRecord

FRAMEWORK = "video-contrast"


def scored_split(splits: Iterable[str]) -> str:
    """The split to be scored on, where there is one; else the first."""
    names = list(splits)
    return next((name for name in ("test", "validation") if name in names), names[0])


def evaluation(record: SetRecord) -> str:
    """The set's `eval.yaml`: a task a config and score, on the split that is scored."""
    import yaml

    facts = record.get("facts", {})
    tasks: list[dict[str, object]] = []
    for config, entry in record["configs"].items():
        split = scored_split(entry["splits"])
        tasks += [
            {"id": f"{config}{task_ending(name, kind)}", "config": config, "split": split}
            for kind, name in MAIN[entry["layout"]]
        ]
    content = {
        "name": facts.get("pretty_name") or record["builder"],
        "description": facts.get("summary") or f"A contrast set made by the builder {record['builder']}.",
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
