"""Where the report files of an import are."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple


class ReportKeys(NamedTuple):
    """Where in the bucket the report files of an import are."""

    rejected_rows: str
    report: str
    warnings: str
    options: str


def report_keys(import_id: int, file_name: str, generation: int) -> ReportKeys:
    """The keys of an import's report files; the rejected rows keep the suffix of the file that they came from."""
    suffix = PurePosixPath(file_name).suffix[:16]
    names = (f"rejected_rows{suffix}", "report.csv", "warnings.csv", "options.json")
    return ReportKeys(*(f"{report_prefix(import_id, generation)}{name}" for name in names))


def report_prefix(import_id: int, generation: int) -> str:
    """What the keys of an import's report files begin with."""
    return f"reports/{import_id}/{generation}/"
