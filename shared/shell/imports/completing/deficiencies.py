"""Write what a producing party has to send or correct, as a table and as a text to be sent, beside the reports.

Guaranteed: the files depend on the rows of the import alone, and for images also on those of the data file that they
belong to, so that writing them twice is harmless. Memory does not grow with what was found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlalchemy import bindparam, text

from core.checks.deficiencies import DEFICIENT, HEADER, Deficiency, Request, describe_deficiency, format_text
from core.checks.facts import CELL_END
from core.imports.check_summary import FINDINGS_PER_ATTEMPT
from core.imports.report_files import build_deficiency_keys
from core.statuses import ImportKind, ImportPhase
from shell.aws.s3 import write_stream
from shell.db.session import session
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.utils.csv_format import format_csv
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.external_sort import ExternalSort

DEFICIENCIES_PER_PAGE = 5_000
LINES_IN_MEMORY = 50_000
_BATCH = 1_000
_FIELDS = "line_no, seq, column_name, code, message, control_number"
_AFTER = (
    "line_no >= :line_no AND (line_no > :line_no OR seq > :seq) AND code IN :codes ORDER BY line_no, seq LIMIT :page"
)
_REJECTIONS = text(
    f"SELECT {_FIELDS}, NULL AS original FROM import_rejections WHERE import_id = :import_id AND {_AFTER}"  # noqa: S608
).bindparams(bindparam("codes", expanding=True))
_WARNINGS = text(
    f"SELECT {_FIELDS}, original FROM import_warnings WHERE import_id = :import_id AND {_AFTER}"  # noqa: S608
).bindparams(bindparam("codes", expanding=True))
# By the primary key, one code after the other.
_FINDINGS = text(
    f"SELECT {_FIELDS}, NULL AS original FROM import_check_findings WHERE import_id = :import_id "  # noqa: S608
    "AND (seq < :per_attempt OR seq BETWEEN :first_seq AND :last_seq) AND code = :code "
    "AND line_no >= :line_no AND (line_no > :line_no OR seq > :seq) ORDER BY line_no, seq LIMIT :page"
)


class _Source(NamedTuple):
    """An import whose findings count: its name, and the attempt that ended its check (None for an import)."""

    import_id: int
    file_name: str
    attempt: int | None


def write_deficiencies(import_record: Imports, generation: int) -> None:
    """Write both files of an import, or of its check."""
    keys = build_deficiency_keys(import_record.id, generation)
    with TemporaryDirectory(prefix="deficiencies-") as folder, closing(_sort(import_record, folder)) as found:
        counts = Counter(each.request for each in _read(found))
        cells = (each.list_cells() for each in _read(found))
        write_stream(import_record.bucket, keys.table, format_csv(HEADER, cells), "text/csv; charset=utf-8")
        lines = format_text(import_record.file_name, counts, _read(found))
        encoded = (f"{line}\n".encode("utf-8", "replace") for line in lines)
        write_stream(import_record.bucket, keys.text, encoded, "text/plain; charset=utf-8")


def _sort(import_record: Imports, folder: str) -> ExternalSort:
    found = ExternalSort(folder, "deficiencies", LINES_IN_MEMORY)
    remaining = _list_deficiencies(_find_sources(import_record))
    while batch := list(islice(remaining, _BATCH)):
        found.add(batch)
    return found


def _read(found: ExternalSort) -> Iterator[Deficiency]:
    for line in chain.from_iterable(found.read()):
        request, *rest = json.loads(line.rsplit(CELL_END, 1)[1])
        yield Deficiency(Request(request), *rest)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_sources(import_record: Imports) -> list[_Source]:
    """Return the import, after the data file that it belongs to if it is one of images."""
    with session() as reading:
        records = [import_record]
        while records[0].kind == ImportKind.IMAGES and records[0].after_import_id is not None:
            before = reading.get(Imports, records[0].after_import_id)
            if before is None or before.case_id != import_record.case_id or before in records:
                break
            records.insert(0, before)
        return [
            _Source(each.id, each.file_name, _find_attempt(reading.get(ImportChecks, each.id), each))
            for each in records
        ]


def _find_attempt(check: ImportChecks | None, import_record: Imports) -> int | None:
    if check is None or import_record.phase != ImportPhase.CHECK:
        return None
    return check.finished_attempt


def _list_deficiencies(sources: Sequence[_Source]) -> Iterator[str]:
    """Yield the line of each deficiency, which sorts by request, load file and line."""
    for position, source in enumerate(sources):
        for number, row in enumerate(_read_rows(source)):
            original = None if row.original is None else bytes(row.original).decode("utf-8", "replace")
            each = describe_deficiency(
                *(source.file_name, row.code, row.line_no, row.message),
                document=row.control_number,
                column=row.column_name,
                value=original,
            )
            if each is not None:
                place = f"{each.request:02d}{CELL_END}{position:04d}{CELL_END}{each.line:012d}{CELL_END}{number:012d}"
                yield f"{place}{CELL_END}{json.dumps(each)}"


def _read_rows(source: _Source) -> Iterator[Any]:
    codes = sorted(DEFICIENT)
    if source.attempt is None:
        for statement in (_REJECTIONS, _WARNINGS):
            yield from _read_pages(statement, {"import_id": source.import_id, "codes": codes})
        return
    first = FINDINGS_PER_ATTEMPT * source.attempt
    seqs = {"per_attempt": FINDINGS_PER_ATTEMPT, "first_seq": first, "last_seq": first + FINDINGS_PER_ATTEMPT - 1}
    for code in codes:
        yield from _read_pages(_FINDINGS, {"import_id": source.import_id, "code": code, **seqs})


def _read_pages(statement: Any, values: dict[str, Any]) -> Iterable[Any]:
    line_no, seq = 0, -1
    while page := _read_page(statement, {**values, "line_no": line_no, "seq": seq, "page": DEFICIENCIES_PER_PAGE}):
        yield from page
        line_no, seq = page[-1].line_no, page[-1].seq


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(statement: Any, values: dict[str, Any]) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(statement, values).all()
