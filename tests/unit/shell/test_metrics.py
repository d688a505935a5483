"""Metrics are lines in CloudWatch's embedded format; two stacks of one account do not count together."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = "from shell.observability import emit_counts; emit_counts(RowsImported=3, RowsRejected=0)"


def emitted(service: str) -> list[dict[str, object]]:
    """What a function of that stack prints."""
    environment = os.environ | {"POWERTOOLS_SERVICE_NAME": service}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_counts_are_emitted_at_once_under_the_stacks_name() -> None:
    (line,) = emitted("evidence-of-acme")
    assert (line["service"], line["RowsImported"], line["RowsRejected"]) == ("evidence-of-acme", [3.0], [0.0])
    metrics = line["_aws"]["CloudWatchMetrics"][0]  # type: ignore[index]
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("ExhibitIngest", [["service"]])
