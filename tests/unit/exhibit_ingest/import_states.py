"""What the tests of the command share."""

from __future__ import annotations

from typing import Any

from exhibit_ingest.cli.import_status import ImportProgress


def state(**changes: Any) -> ImportProgress:
    """An import that runs, with changes."""
    counts: dict[str, Any] = dict.fromkeys(
        ("rows_seen", "imported", "unchanged", "updated", "rejected", "warnings", "custodians_created", "tags_created"),
        0,
    )
    values: dict[str, Any] = counts | {
        "id": 7,
        "status": "running",
        "failure_code": None,
        "failure_message": None,
        "encoding": "utf-8",
        "delimiter": "\x14",
        "qualifier": "þ",
        "generation": 1,
        "reports_generation": 0,
    }
    return ImportProgress(**(values | changes))
