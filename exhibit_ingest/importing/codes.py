"""How many rows of an import were rejected, and how many warnings it has, by code."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exhibit_ingest.client.api import Api


@dataclass(frozen=True)
class CodeCounts:
    """The rejected rows and the warnings of an import by code.

    A row that was rejected for several reasons counts for each of them.
    """

    rejected: Mapping[str, int] = field(default_factory=dict)
    warnings: Mapping[str, int] = field(default_factory=dict)


def read_codes(api: Api, import_id: int, report: Path | None) -> CodeCounts:
    """Return the counts by code of an import that has ended; `report` is its report.csv, if there is one.

    Raises CommandError and OSError.
    """
    found = api.request("GET", f"/imports/{import_id}/codes")
    rejected, warnings = Counter[str](), Counter[str]()
    for each in found["rejections"]:
        rejected[each["code"]] += each["rows"]
    for each in found["warnings"]:
        warnings[each["code"]] += each["count"]
    for code in _list_repeated(found["rejections"]) if report else ():
        rejected[code] = _count_lines(report, code) if report else 0
    return CodeCounts(_sort(rejected), _sort(warnings))


def _list_repeated(counts: list[dict[str, Any]]) -> list[str]:
    """Return the codes of several columns, which one row can have more than once."""
    columns = Counter(each["code"] for each in counts)
    return [code for code, number in columns.items() if number > 1]


def _count_lines(report: Path, code: str) -> int:
    with report.open(encoding="utf-8-sig", newline="") as lines:
        return len({row["line"] for row in csv.DictReader(lines) if row["code"] == code})


def _sort(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
