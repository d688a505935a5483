"""Complete the check of a load file: what needs all of its rows and names, the counts by code, status and event.

Guaranteed: exactly one transaction for each generation ends the check. Everything before it can be repeated, also by
several workers at once: what they write has the same keys each time. After a cancellation commits, the check does not
end. Nothing is written to the case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from core.errors import ImportNotRunningError
from core.events import import_checked
from core.imports.check_summary import END_FINDINGS_FROM, CodeSummary, Severity, judge_severity, write_summaries
from core.imports.chunk_facts import unpack_facts
from core.statuses import ImportStatus
from shell.db.session import session
from shell.imports.check_results import FindingRow, build_finding, delete_facts, read_facts, write_findings
from shell.imports.checks.names import add_names, resolve_merged
from shell.imports.completion import sum_chunks
from shell.imports.spelling_index import SpellingIndex, spelling_index
from shell.imports.spellings import check_completing, describe_merged, lock_completing
from shell.imports.upload_matching import load_current_import
from shell.observability import logger
from shell.outbox.writer import append_events, wake_relay
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

FINDINGS_PER_BATCH = 5_000

# As an import counts them: rows for errors, each finding for warnings.
_CODES = text(
    "SELECT code, SUM(of_line) AS findings, SUM(line_rows) AS line_count, MIN(line_no) AS first_line FROM ("
    "SELECT code, line_no, COUNT(*) AS of_line, MAX(row_count) AS line_rows FROM import_check_findings "
    "WHERE import_id = :import_id AND (seq < :end_from OR seq BETWEEN :first_seq AND :last_seq) GROUP BY code, line_no"
    ") AS by_line GROUP BY code ORDER BY code"
)
_FIRST_MESSAGE = text(
    "SELECT message FROM import_check_findings WHERE import_id = :import_id AND code = :code AND line_no = :line_no "
    "AND (seq < :end_from OR seq BETWEEN :first_seq AND :last_seq) ORDER BY seq LIMIT 1"
)
_FILE_WARNINGS = text(
    "SELECT code, seq, column_name, message FROM import_warnings WHERE import_id = :import_id AND line_no = 0"
)
_FINISH_CHECK = text(
    "UPDATE import_checks SET would_import = :imported, unchanged = :unchanged, would_reject = :rejected, "
    "warnings = :warnings, new_custodians = :custodians, new_tags = :tags, generation = :generation, "
    "findings = :findings, report_written = 0, finished_at = NOW(6) WHERE import_id = :import_id"
)
_FINISH_IMPORT = text("UPDATE imports SET status = 'checked', finished_at = NOW(6) WHERE id = :import_id")


class EndOfCheck(NamedTuple):
    """An import whose check ends in a generation."""

    import_record: Imports
    generation: int

    def number_finding(self, position: int) -> int:
        """Return the `seq` of a finding of the end; those of an earlier generation have other ones."""
        return END_FINDINGS_FROM * self.generation + position

    def select_current(self) -> dict[str, int]:
        """Return the values of the conditions that leave out what the end of an earlier generation found."""
        seqs = {"first_seq": self.number_finding(0), "last_seq": self.number_finding(END_FINDINGS_FROM - 1)}
        return {"import_id": self.import_record.id, "end_from": END_FINDINGS_FROM, **seqs}

    def lock(self, transaction: Session) -> None:
        """Lock the import's row; raise ImportNotRunningError unless the check is being completed."""
        lock_completing(transaction, self.import_record.id, self.generation, ImportStatus.CHECKING)


def complete_check(import_id: int, generation: int) -> bool:
    """Complete the check; return False, having done nothing, if the import is not being checked.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    import_record = load_current_import(import_id)
    if import_record is None:
        return False
    if import_record.status != ImportStatus.CHECKING:
        if import_record.status == ImportStatus.CHECKED or import_record.generation > 1:
            # A worker may have been killed before it did.
            delete_facts(import_id)
        return False
    try:
        check_completing(import_record, generation, ImportStatus.CHECKING)
        end = EndOfCheck(import_record, generation)
        _finish(end, _find_at_end(end))
    except ImportNotRunningError as stopped:
        logger.info("check not completed", extra={"import_id": import_id, "status": stopped.status})
        return True
    wake_relay()
    delete_facts(import_id)
    logger.info("check completed", extra={"import_id": import_id, "generation": generation})
    return True


def _find_at_end(end: EndOfCheck) -> dict[str, int]:
    """Write the findings that need all chunks; return how many names an import would create, by kind."""
    with spelling_index() as index:
        for facts in map(unpack_facts, read_facts(end.import_record.id)):
            add_names(index, end.import_record, facts.names)
        resolve_merged(index, end.import_record)
        _write(end, _list_merged(end, index))
        new_names = index.count_new_names()
    _write(end, _list_file_warnings(end))
    return new_names


def _write(end: EndOfCheck, findings: Iterable[FindingRow]) -> None:
    remaining = iter(findings)
    while batch := list(islice(remaining, FINDINGS_PER_BATCH)):
        _write_batch(end, batch)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _write_batch(end: EndOfCheck, findings: list[FindingRow]) -> None:
    with session() as transaction:
        end.lock(transaction)
        write_findings(transaction, findings)


def _list_merged(end: EndOfCheck, index: SpellingIndex) -> Iterator[FindingRow]:
    for batch in index.list_merged(FINDINGS_PER_BATCH):
        line_no, position = 0, 0
        for _, name in batch:
            line_no, position = name.line_no, position + 1 if name.line_no == line_no else 0
            seq = end.number_finding(position)
            code, message = WarningCode.NAME_MERGED.value, describe_merged(name.kept)
            yield build_finding(end.import_record.id, code, line_no, seq, message, column=name.column)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_file_warnings(end: EndOfCheck) -> list[FindingRow]:
    """Return the warnings about the whole file, which the split has written for the import."""
    import_id = end.import_record.id
    with session() as reading:
        rows = reading.execute(_FILE_WARNINGS, {"import_id": import_id}).all()
    return [
        build_finding(import_id, row.code, 0, end.number_finding(row.seq), row.message, column=row.column_name)
        for row in rows
    ]


def _has_ended(end: EndOfCheck, _names: dict[str, int]) -> bool | None:
    """Return True if the check has ended, else None; wait for a COMMIT that is under way."""
    try:
        with session() as locking:
            end.lock(locking)
    except ImportNotRunningError:
        return True
    return None


@retry_on_db_conflict(resolve=_has_ended)
def _finish(end: EndOfCheck, new_names: dict[str, int]) -> bool:
    """Record the result and the status, and write the event."""
    import_record = end.import_record
    with session() as transaction:
        end.lock(transaction)
        counts = _count(transaction, import_record.id)
        summaries = list(_summarize(transaction, end))
        counts["warnings"] = sum(each.count for each in summaries if each.severity is Severity.WARNING)
        values = {**counts, "custodians": new_names.get("custodians", 0), "tags": new_names.get("tags", 0)}
        place = {"import_id": import_record.id, "generation": end.generation}
        transaction.execute(_FINISH_CHECK, {**values, **place, "findings": write_summaries(summaries)})
        transaction.execute(_FINISH_IMPORT, {"import_id": import_record.id})
        event = import_checked(import_record.id, import_record.tenant_id, end.generation, counts)
        append_events(transaction, [event])
    return True


def _count(transaction: Session, import_id: int) -> dict[str, int]:
    totals = sum_chunks(transaction, import_id)
    return {name: totals[name] for name in ("imported", "unchanged", "updated", "rejected")}


def _summarize(transaction: Session, end: EndOfCheck) -> Iterator[CodeSummary]:
    current = end.select_current()
    for row in transaction.execute(_CODES, current).all():
        place = {**current, "code": row.code, "line_no": row.first_line}
        message = str(transaction.execute(_FIRST_MESSAGE, place).scalar_one())
        severity = judge_severity(row.code)
        count = row.line_count if severity is Severity.ERROR else row.findings
        yield CodeSummary(row.code, severity, int(count), int(row.first_line), message)
