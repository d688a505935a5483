"""Metrics are lines in CloudWatch's embedded format; two stacks of one account do not count together."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

PROGRAM = "from shell.observability import emit_counts; emit_counts(RowsImported=3, RowsRejected=0)"
OF_TENANTS = """
from shell.observability import emit_counts, emit_tenant_counts
emit_tenant_counts("acme", RowsImported=3, RowsRejected=0)
emit_tenant_counts("Müller LLP", RowsImported=4, RowsRejected=5)
emit_tenant_counts("acme", RowsImported=0, RowsRejected=0)
emit_counts(RowsImported=7)
"""


def emitted(service: str, program: str = PROGRAM) -> list[dict[str, object]]:
    """What a function of that stack prints."""
    environment = os.environ | {"POWERTOOLS_SERVICE_NAME": service}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_counts_are_emitted_at_once_under_the_stacks_name() -> None:
    (line,) = emitted("evidence-of-acme")
    assert (line["service"], line["RowsImported"], line["RowsRejected"]) == ("evidence-of-acme", [3.0], [0.0])
    metrics = line["_aws"]["CloudWatchMetrics"][0]  # type: ignore[index]
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("ExhibitIngest", [["service"]])


def test_counts_of_a_tenant_have_its_label_and_the_next_ones_do_not() -> None:
    """A zero is not emitted: it would cost as much as any figure."""
    lines = emitted("cell-1", OF_TENANTS)
    named = [(line["service"], line.get("tenant_id"), line["RowsImported"]) for line in lines]
    label = hashlib.sha256("Müller LLP".encode()).hexdigest()
    assert named == [("cell-1", "acme", [3.0]), ("cell-1", label, [4.0]), ("cell-1", None, [7.0])]
    assert ["RowsRejected" in line for line in lines] == [False, True, False]
    directives = [line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] for line in lines]  # type: ignore[index]
    assert [sorted(*each) for each in directives] == [["service", "tenant_id"], ["service", "tenant_id"], ["service"]]
