"""Writing a built set: tables and record, the blind audit of its multiple-choice configs, and the card last."""

from pathlib import Path

from video_contrast.audit.blind_audit import audit_splits
from video_contrast.builders.registry import BuiltSet
from video_contrast.hub_cards import write_card
from video_contrast.storage import SetDraft


def write_set(built: BuiltSet, output: str | Path) -> Path:
    """Writes a built set into the folder `output`, beside the configs that a former build of the same builder left.

    Plain `datasets.load_dataset(output, config)` then works. Equal inputs give equal bytes. Raises VideoContrastError:
    a row is invalid (the message names config, split, row and column), or the folder holds another builder's set or
    other files.
    """
    draft = SetDraft(output, built.name)
    for config, splits in built.tables.items():
        entry = draft.add(config, splits, facts=dict(built.facts.get("configs", {}).get(config, {})))
        if entry["layout"] == "multiple_choice" and not entry["perturbed"] and "audit" not in entry["facts"]:
            entry["facts"]["audit"] = audit_splits(splits, built.facts.get("seed", 0))
    draft.record["facts"] = {key: value for key, value in built.facts.items() if key != "configs"}
    folder = draft.save(built.files)
    if built.video_root is not None:
        folder.remember_video_root(built.video_root)
    write_card(folder)
    return folder.path
