"""What a reader of a run's figures has to know of the model's self-test."""

from __future__ import annotations

from video_contrast.storage.run_records import RunRecord


def self_test_lines(record: RunRecord) -> list[str]:
    """Failed and doubtful checks, and a model that is blind to the order of frames; [] for runs without a self-test."""
    test = record.get("self_test", {})
    if test.get("left_out"):
        return ["self-test: left out (--accept all)"]
    lines = []
    for verdict in test.get("verdicts", ()):
        if verdict["state"] in ("fail", "doubt"):
            accepted = " (accepted)" if verdict["check"] in test["accepted"] else ""
            lines.append(f"self-test: {verdict['state']}{accepted}: {verdict['check']}: {verdict['says']}")
        elif verdict["check"] == "reversal" and verdict["says"].startswith("order-blind"):
            says = f"{verdict['says']}, so contrasts that need the order of frames (rises, falls) can only be guessed"
            lines.append(f"self-test: {says}")
    return lines
