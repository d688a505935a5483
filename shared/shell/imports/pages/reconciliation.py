"""Reconcile the pages of an import that has no chunk left, and write what is found as its warnings.

Guaranteed: the warnings are those of one attempt, the last one, in one generation: each window of them is deleted or
written under the lock on the import's row, with its status, generation and attempt, and the transaction that ends the
import ends the reconciliation if its attempt is still the last. A worker that is killed, late or one of several leaves
nothing twice and nothing out. An import that has ended gets no warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby, islice
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.checks.page_findings import PAGE_CODES, PageFinding
from core.errors import ImportNotRunningError
from core.load_file.encoding import replace_surrogates
from core.statuses import ImportKind, ImportStatus
from shell.db.bulk_insert import insert_missing
from shell.db.session import session
from shell.imports.pages.merge import LINES_IN_MEMORY, find_page_findings
from shell.imports.pages.sources import find_sources, read_page_facts
from shell.imports.state.codes import count_lines
from shell.imports.state.compared_imports import Source, write_sources
from shell.imports.state.completion_lock import lock_completing
from shell.imports.state.progress import WarningRow
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

WARNINGS_PER_WINDOW = 5_000
MAX_MESSAGE_CHARACTERS, MAX_KEY_CHARACTERS = 1000, 255
# Of the warnings of a line; those of the whole file have numbers from 800,000 on.
FIRST_SEQ, LAST_SEQ = 700_000, 799_999
_BEGIN = text(
    "INSERT INTO page_reconciliations (import_id, attempt) VALUES (:import_id, 1) "
    "ON DUPLICATE KEY UPDATE attempt = attempt + 1, finished_at = NULL"
)
_ATTEMPT = text("SELECT attempt FROM page_reconciliations WHERE import_id = :import_id")
_WINDOW = text(
    "SELECT line_no FROM import_warnings WHERE import_id = :import_id AND line_no > :after "
    "AND seq BETWEEN :first_seq AND :last_seq ORDER BY line_no LIMIT :most"
)
_DELETE = text(
    "DELETE FROM import_warnings WHERE import_id = :import_id AND line_no BETWEEN :first AND :last "
    "AND seq BETWEEN :first_seq AND :last_seq"
)
_FINISH = text(
    "UPDATE page_reconciliations SET generation = :generation, compared = :compared, findings = :findings, "
    "finished_at = NOW(6) WHERE import_id = :import_id AND attempt = :attempt"
)
_FINISH_CHECK = text(
    "INSERT INTO page_reconciliations (import_id, generation, compared, findings, finished_at) "
    "VALUES (:import_id, :generation, :compared, :findings, NOW(6)) ON DUPLICATE KEY UPDATE "
    "generation = :generation, compared = :compared, findings = :findings, finished_at = NOW(6)"
)


class Reconciled(NamedTuple):
    """An attempt whose findings are written; the transaction that ends the import records it."""

    import_id: int
    generation: int
    attempt: int
    sources: list[Source]
    findings: int

    def store(self, transaction: Session) -> None:
        """Record the attempt as finished; raise ImportNotRunningError if another one has begun since."""
        if not count_changed_rows(transaction.execute(_FINISH, self._describe() | {"attempt": self.attempt})):
            raise ImportNotRunningError(ImportStatus.RUNNING)

    def store_check(self, transaction: Session) -> None:
        """Record what a check compared; its findings are those of the attempt that ends it."""
        transaction.execute(_FINISH_CHECK, self._describe())

    def _describe(self) -> dict[str, int | str]:
        place: dict[str, int | str] = {"import_id": self.import_id, "generation": self.generation}
        return {**place, "compared": write_sources(self.sources), "findings": self.findings}


@contextmanager
def find_findings(import_record: Imports, sources: list[Source]) -> Iterator[Iterator[PageFinding]]:
    """Find what differs, in order of line; the temporary files are deleted after the block."""
    with TemporaryDirectory(prefix="pages-") as folder:
        yield find_page_findings(_read_rows(sources), _read_documents(import_record, sources), folder, LINES_IN_MEMORY)


def _read_rows(sources: list[Source]) -> Iterator[tuple[int, bytes]]:
    for rank, source in enumerate(each for each in sources if each.kind == ImportKind.ROWS):
        for packed in read_page_facts(source.import_id):
            yield rank, packed


def _read_documents(import_record: Imports, sources: list[Source]) -> Iterator[tuple[bool, bytes]]:
    for source in (each for each in sources if each.kind == ImportKind.IMAGES):
        for packed in read_page_facts(source.import_id):
            yield False, packed
    for packed in read_page_facts(import_record.id):
        yield True, packed


def reconcile_pages(import_record: Imports, generation: int) -> Reconciled | None:
    """Write the warnings of the import; None if it is not one of images.

    Raises ImportNotRunningError if the import is not being completed in this generation any more, or if another worker
    has begun to.
    """
    if import_record.kind != ImportKind.IMAGES:
        return None
    attempt = _begin(import_record.id, generation)
    sources, found = find_sources(import_record), 0
    if attempt > 1:
        _delete_earlier(import_record.id, generation, attempt)
    with find_findings(import_record, sources) as findings:
        rows = _build_warnings(import_record.id, findings)
        while batch := list(islice(rows, WARNINGS_PER_WINDOW)):
            _write_window(import_record.id, generation, attempt, batch)
            found += len(batch)
    return Reconciled(import_record.id, generation, attempt, sources, found)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _begin(import_id: int, generation: int) -> int:
    """Return the number of an attempt; those before can write no more."""
    with session() as transaction:
        lock_completing(transaction, import_id, generation)
        transaction.execute(_BEGIN, {"import_id": import_id})
        return int(transaction.execute(_ATTEMPT, {"import_id": import_id}).scalar_one())


def _lock(transaction: Session, import_id: int, generation: int, attempt: int) -> None:
    lock_completing(transaction, import_id, generation)
    if transaction.execute(_ATTEMPT, {"import_id": import_id}).scalar_one() != attempt:
        raise ImportNotRunningError(ImportStatus.RUNNING)


def _delete_earlier(import_id: int, generation: int, attempt: int) -> None:
    after: int | None = -1
    while after is not None:
        after = _delete_window(import_id, generation, attempt, after)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _delete_window(import_id: int, generation: int, attempt: int, after: int) -> int | None:
    """Delete the warnings of the next lines that have some; return the last of these lines, None at the end."""
    place = {"import_id": import_id, "first_seq": FIRST_SEQ, "last_seq": LAST_SEQ}
    with session() as transaction:
        _lock(transaction, import_id, generation, attempt)
        window = {**place, "after": after, "most": WARNINGS_PER_WINDOW}
        lines = transaction.scalars(_WINDOW, window).all()
        if not lines:
            return None
        transaction.execute(_DELETE, {**place, "first": lines[0], "last": lines[-1]})
        count_lines(transaction, import_id, lines[0], lines[-1], PAGE_CODES)
        return int(lines[-1])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _write_window(import_id: int, generation: int, attempt: int, rows: list[WarningRow]) -> None:
    with session() as transaction:
        _lock(transaction, import_id, generation, attempt)
        # A COMMIT of unknown outcome may have written them.
        insert_missing(transaction, "import_warnings", WarningRow._fields, rows, key=3)
        count_lines(transaction, import_id, rows[0].line_no, rows[-1].line_no, PAGE_CODES)


def _build_warnings(import_id: int, findings: Iterator[PageFinding]) -> Iterator[WarningRow]:
    for line, group in groupby(findings, key=lambda each: each.line):
        for seq, each in zip(range(FIRST_SEQ, LAST_SEQ + 1), group, strict=False):
            message = replace_surrogates(each.message[:MAX_MESSAGE_CHARACTERS])
            document = replace_surrogates(each.document[:MAX_KEY_CHARACTERS])
            yield WarningRow(import_id, line, seq, 0, None, each.code.value, message, document)
