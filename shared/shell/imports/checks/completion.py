"""Complete the check of a load file: what needs all of its rows and names, the counts by code, status and event.

Guaranteed: exactly one transaction for each generation ends the check, and only the findings of its attempt count, so
that several workers at once, or one that is killed, leave no finding twice or half. After a cancellation commits, the
check does not end. Nothing is written to the case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.events import import_checked
from core.imports.check_summary import FINDINGS_PER_ATTEMPT, CodeSummary, Severity, judge_severity, write_summaries
from core.load_file.layout import Layout
from core.statuses import ImportStatus
from core.volumes.path_tally import PathTally
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.imports.checks.end_findings import EndFinding, EndFindings
from shell.imports.pages.reopening import reopen_images
from shell.imports.state.completion_lock import check_completing, lock_completing
from shell.imports.state.dependents import lock_before, release_dependents
from shell.imports.state.findings import FindingRow, build_finding, delete_facts, write_findings
from shell.imports.state.progress import sum_chunks
from shell.imports.state.records import load_current_import
from shell.observability import logger
from shell.outbox.writer import append_events, wake_relay
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.documents import PAGE_COUNTS, store_whole_counts
from shell.volume_files.path_figures import store_paths, unite_paths

FINDINGS_PER_BATCH = 5_000

_CURRENT = "(seq < :per_attempt OR seq BETWEEN :first_seq AND :last_seq)"
# As an import counts them: rows for errors, each finding for warnings.
_CODES = text(
    "SELECT code, SUM(of_line) AS findings, SUM(line_rows) AS line_count, MIN(line_no) AS first_line FROM ("  # noqa: S608
    "SELECT code, line_no, COUNT(*) AS of_line, MAX(row_count) AS line_rows FROM import_check_findings "
    f"WHERE import_id = :import_id AND {_CURRENT} GROUP BY code, line_no) AS by_line GROUP BY code ORDER BY code"
)
_FIRST_MESSAGE = text(
    "SELECT message FROM import_check_findings WHERE import_id = :import_id AND code = :code AND line_no = :line_no "  # noqa: S608
    f"AND {_CURRENT} ORDER BY seq LIMIT 1"
)
_BEGIN_ATTEMPT = text("UPDATE import_checks SET attempt = attempt + 1 WHERE import_id = :import_id")
_ATTEMPT = text("SELECT attempt FROM import_checks WHERE import_id = :import_id")
_FINISH_CHECK = text(
    "UPDATE import_checks SET would_import = :imported, unchanged = :unchanged, would_reject = :rejected, "
    "would_update = :updated, updates = :updates, "
    "warnings = :warnings, new_custodians = :custodians, new_tags = :tags, generation = :generation, "
    "finished_attempt = :attempt, findings = :findings, report_written = 0, finished_at = NOW(6) "
    "WHERE import_id = :import_id"
)
_FINISH_IMPORT = text("UPDATE imports SET status = 'checked', finished_at = NOW(6) WHERE id = :import_id")


class EndOfCheck(NamedTuple):
    """An attempt to end the check of an import in a generation."""

    import_record: Imports
    generation: int
    attempt: int = 0

    def select_current(self) -> dict[str, int]:
        """Return the values of the conditions that leave out what other attempts found."""
        first = FINDINGS_PER_ATTEMPT * self.attempt
        seqs = {"first_seq": first, "last_seq": first + FINDINGS_PER_ATTEMPT - 1, "per_attempt": FINDINGS_PER_ATTEMPT}
        return {"import_id": self.import_record.id, **seqs}

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
            # A worker may have been killed after the end of the check, before it deleted them.
            delete_facts(import_id)
        return False
    try:
        check_completing(import_record, generation, ImportStatus.CHECKING)
        end = _begin_attempt(EndOfCheck(import_record, generation))
        found = EndFindings(import_record, generation)
        _write(end, found.find())
        _finish(end, found, unite_paths(import_record))
    except ImportNotRunningError as stopped:
        logger.info("check not completed", extra={"import_id": import_id, "status": stopped.status})
        return True
    wake_relay()
    delete_facts(import_id)
    logger.info("check completed", extra={"import_id": import_id, "generation": generation})
    return True


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _begin_attempt(end: EndOfCheck) -> EndOfCheck:
    """Return it with a number that no other attempt has."""
    place = {"import_id": end.import_record.id}
    with session() as transaction:
        end.lock(transaction)
        transaction.execute(_BEGIN_ATTEMPT, place)
        return end._replace(attempt=int(transaction.execute(_ATTEMPT, place).scalar_one()))


def _write(end: EndOfCheck, findings: Iterable[EndFinding]) -> None:
    remaining = _build_rows(end, findings)
    while batch := list(islice(remaining, FINDINGS_PER_BATCH)):
        _write_batch(end, batch)


def _build_rows(end: EndOfCheck, findings: Iterable[EndFinding]) -> Iterator[FindingRow]:
    numbers = count(FINDINGS_PER_ATTEMPT * end.attempt)
    for seq, (code, line_no, column, message, number) in zip(numbers, findings, strict=False):
        yield build_finding(
            end.import_record.id, code, line_no, seq, message, column=column, control_number=number or None
        )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _write_batch(end: EndOfCheck, findings: list[FindingRow]) -> None:
    with session() as transaction:
        end.lock(transaction)
        write_findings(transaction, findings)


def _has_ended(end: EndOfCheck, *_: object) -> bool | None:
    """Return True if the check has ended, else None; wait for a COMMIT that is under way."""
    try:
        with session() as locking:
            end.lock(locking)
    except ImportNotRunningError:
        return True
    return None


@retry_on_db_conflict(resolve=_has_ended)
def _finish(end: EndOfCheck, found: EndFindings, paths: PathTally | None) -> bool:
    """Record the result and the status, and write the event."""
    import_record = end.import_record
    with session() as transaction:
        lock_before(transaction, import_record.id)
        end.lock(transaction)
        counts = _count(transaction, import_record.id)
        pages = _move_refused(counts, found)
        if found.is_compared:
            store_whole_counts(transaction, import_record.id, without_images=found.without_images, **pages)
        store_paths(transaction, import_record.id, paths)
        if found.reconciled is not None:
            found.reconciled.store_check(transaction)
        summaries = list(_summarize(transaction, end))
        counts["warnings"] = sum(each.count for each in summaries if each.severity is Severity.WARNING)
        names = {kind: found.new_names.get(kind, 0) for kind in ("custodians", "tags")}
        values = {**counts, **names, "updates": found.updates.write()}
        place = {"import_id": import_record.id, "generation": end.generation, "attempt": end.attempt}
        transaction.execute(_FINISH_CHECK, {**values, **place, "findings": write_summaries(summaries)})
        transaction.execute(_FINISH_IMPORT, {"import_id": import_record.id})
        event = import_checked(import_record.id, import_record.tenant_id, end.generation, counts)
        append_events(transaction, [event])
        record_own_act(
            transaction,
            import_record.tenant_id,
            Act(ActKind.IMPORT_CHECKED, import_record.id, import_record.case_id, counts),
        )
        release_dependents(transaction, import_record.id)
        if import_record.volume_id is not None:
            reopen_images(transaction, import_record.id, end.generation)
    return True


def _move_refused(counts: dict[str, int], found: EndFindings) -> dict[str, int | None]:
    """Count the refused documents as rejected, and others by their result; return what that adds to counts of pages.

    What it does not add to is None, in place of what an earlier attempt has added.
    """
    refused, moved = found.refused, found.moved
    pages = {name: moved[name] - refused[name] for name in refused.keys() | moved.keys() if name not in counts}
    pages["lines_rejected"] = -pages.pop("lines", 0)
    for name in counts:
        counts[name] += moved[name] - refused[name]
    counts["rejected"] += sum(refused[name] for name in counts)
    return dict.fromkeys(PAGE_COUNTS) | pages


def _count(transaction: Session, import_id: int) -> dict[str, int]:
    totals = sum_chunks(transaction, import_id)
    return {name: totals[name] for name in ("imported", "unchanged", "updated", "rejected")}


def _summarize(transaction: Session, end: EndOfCheck) -> Iterator[CodeSummary]:
    current = end.select_current()
    missing_files = Layout.from_json(end.import_record.layout or "{}").files.missing_files
    for row in transaction.execute(_CODES, current).all():
        place = {**current, "code": row.code, "line_no": row.first_line}
        message = str(transaction.execute(_FIRST_MESSAGE, place).scalar_one())
        severity = judge_severity(row.code, missing_files)
        found = row.line_count if severity is Severity.ERROR else row.findings
        yield CodeSummary(row.code, severity, int(found), int(row.first_line), message)
