"""`python -m benchmarks.exports`: how long the parts of an export take, by kind and format, and how much memory.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import func, select, text

from benchmarks.arguments import add_server, number
from benchmarks.database import temporary_database
from benchmarks.large_case import write_case
from benchmarks.output import DONE, run_command, run_measurement, table
from core.exports.columns import COLUMNS, ExportFormat, ExportKind
from shell.db.session import session
from shell.exports.worker import build_part
from shell.tables.exhibits import Exhibits
from shell.tables.productions import ExportParts, Exports

_DESCRIPTION = """\
Measures what a worker does for an export but for S3: the parts of the file are built from a database on this machine,
one after the other, and dropped. seconds are of the whole file, of which the process used its processor for cpu_s;
longest_part_s is of one part; peak_mb is the most memory of the process so far, of which base_mb was there before the
first export."""

# The case has no pages.
_MEASURED = (
    *((ExportKind.DOCUMENTS, each) for each in ExportFormat),
    (ExportKind.TAGS, ExportFormat.CSV),
    (ExportKind.HISTORY, ExportFormat.JSONL),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with temporary_database(options.database_url) as database:
            write_case(database, options.documents)
            base = _peak_mb()
            rows = list(_measure_all())
            head = {"server": database.server(), "documents": options.documents, "base_mb": base}
        print(json.dumps({**head, "exports": rows}) if options.json else _format(head, rows))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _measure_all() -> Iterator[dict[str, Any]]:
    for kind, export_format in _MEASURED:
        row = {"export": f"{kind}, {export_format}", **_measure(kind, export_format)}
        print(*row.values(), file=sys.stderr, flush=True)
        yield row


def _measure(kind: ExportKind, export_format: ExportFormat) -> dict[str, Any]:
    with session() as reading:
        highest = reading.scalar(select(func.max(Exhibits.id)))
    export = Exports(
        case_id=1,
        kind=kind.value,
        format=export_format.value,
        filters="{}",
        column_names=json.dumps(COLUMNS[kind]),
        highest_exhibit_id=highest,
    )
    began, busy = time.monotonic(), time.process_time()
    after, is_last, parts, rows, size = None, False, list[float](), 0, 0
    while not is_last:
        at = time.monotonic()
        with session() as reading:
            reading.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            former = ExportParts(part_no=len(parts), after_key=after)
            part = build_part(reading, export, former, lambda: False)
        after, is_last, rows, size = part.after_key, part.is_last, rows + part.rows, size + len(part.body)
        parts.append(time.monotonic() - at)
    took = time.monotonic() - began
    cpu = time.process_time() - busy
    figures = {"seconds": round(took, 1), "cpu_s": round(cpu, 1), "longest_part_s": round(max(parts), 1)}
    return {"rows": rows, "mb": round(size / 1e6, 1), "parts": len(parts), **figures, "peak_mb": _peak_mb()}


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _format(head: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    return f"{json.dumps(head)}\n\n{table([*rows[0]], [[*map(str, row.values())] for row in rows])}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.exports", None, _DESCRIPTION, allow_abbrev=False)
    documents = "documents of the case, rounded down to a multiple of ten (default: 200000)"
    parser.add_argument("--documents", type=number(100, 10_000_000), default=200_000, metavar="N", help=documents)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_server(parser)
    return parser


if __name__ == "__main__":
    run_command(main)
