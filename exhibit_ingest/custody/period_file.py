"""Periods of a CSV file, as the API takes them."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from exhibit_ingest.arguments import parse_id
from exhibit_ingest.custody.times import parse_time
from exhibit_ingest.errors import WrongUsageError

MOST_PERIODS = 1_000
_REQUIRED = ("device", "begin")
_COLUMNS = (*_REQUIRED, "end", "custodian", "note")


def read_periods(path: Path, find_custodian: Callable[[str], int]) -> list[dict[str, Any]]:
    """Return the periods in the order of the file; raise WrongUsageError with the line of what is wrong.

    `find_custodian` returns the id of a custodian, and is called once for each name.
    """
    find = cache(find_custodian)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            periods = [_build_period(path, line, row, find) for line, row in _read(path, csv.DictReader(file))]
    except OSError as exc:
        raise WrongUsageError(f"{path} cannot be read ({exc.strerror}). Check its path.") from exc
    except (UnicodeDecodeError, csv.Error) as exc:
        raise WrongUsageError(f"{path} is not a CSV file in UTF-8 ({exc}). Save it as one.") from exc
    if not 1 <= len(periods) <= MOST_PERIODS:
        raise WrongUsageError(
            f"{path} has {len(periods):,} periods; one request records 1 to {MOST_PERIODS:,}. Divide the file."
        )
    return periods


def _read(path: Path, reader: csv.DictReader[str]) -> Iterator[tuple[int, dict[str, str]]]:
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if not set(_REQUIRED) <= set(names) <= set(_COLUMNS) or len(set(names)) < len(names):
        raise WrongUsageError(f"{path} needs the columns device and begin, and may have end, custodian and note.")
    reader.fieldnames = names
    for row in reader:
        if None in row:
            raise WrongUsageError(
                f"{path}, line {reader.line_num}: more cells than columns. Put cells with commas in quotes."
            )
        yield reader.line_num, {name: (value or "").strip() for name, value in row.items()}


def _build_period(path: Path, line: int, row: Mapping[str, str], find: Callable[[str], int]) -> dict[str, Any]:
    try:
        return {
            "deviceId": parse_id(row["device"], "a device"),
            "begin": parse_time(row["begin"]),
            "end": parse_time(row["end"]) if row.get("end") else None,
            "custodianId": find(row["custodian"]) if row.get("custodian") else None,
            "note": row.get("note") or None,
        }
    except (argparse.ArgumentTypeError, WrongUsageError) as exc:
        raise WrongUsageError(f"{path}, line {line}: {exc}") from exc
