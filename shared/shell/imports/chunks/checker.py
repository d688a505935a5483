"""Check one chunk of a load file: find what an import of its rows would do, and write nothing to the case.

Guaranteed: the rows are read, coerced and compared by the code that imports them; a chunk is checked once, however
often its message is delivered. What needs other chunks is found at the end, from the facts that are stored here.
Not guaranteed: that the case stays as it was when the chunk was checked, and that the server would accept every value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.checks.dates import FIRST_YEAR, check_date
from core.checks.fact_columns import FactColumns
from core.checks.facts import RowFacts
from core.checks.facts import pack_facts as pack_rows
from core.checks.findings import Finding
from core.errors import ImportNotRunningError
from core.exhibit_dates import DATE_FIELDS
from core.families.statements import states_families
from core.imports.chunk_facts import CLAIM, KEPT, ChunkFacts, FamilyReference, pack_facts
from core.load_file.layout import Layout
from core.load_file.rows import RowError, ValueChange
from core.load_mode import Blanks
from core.statuses import ChunkStatus
from shell.db.session import session
from shell.families.store import RowStatement
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.comparison import CaseComparison
from shell.imports.chunks.family_rows import list_statements
from shell.imports.chunks.file_links import count_named_files, write_counts
from shell.imports.chunks.number_claims import list_claims
from shell.imports.chunks.overlay_rows import compare_overlay
from shell.imports.chunks.results import RowResults, list_occurrences
from shell.imports.chunks.writer import WriteResult, find_result
from shell.imports.rows.coercion import COLUMNS, StorableRow
from shell.imports.state.findings import FindingRow, build_finding, write_facts, write_findings
from shell.imports.state.progress import CHUNKS, ChunkOutcome, Counts, complete_chunk
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import is_in, retry_on_db_conflict
from shell.work.units import UnitEndedError

_PARENT = COLUMNS.index("parent_control_number")
_DATES = {date: COLUMNS.index(date) for date in DATE_FIELDS}
_USUAL_FROM = str(FIRST_YEAR)


@retry_on_db_conflict(resolve=find_result)
def check_chunk(chunk_input: ChunkInput) -> WriteResult:
    """Store the findings and facts of the chunk, and complete it, in one transaction.

    Raises ChunkBusyError while another worker holds the chunk, and WorkRetriedError.
    """
    chunk = chunk_input.chunk
    try:
        with session() as transaction:
            CHUNKS.lock(transaction, chunk.import_id, chunk.chunk_no)
            results = compare_with_case(transaction, chunk_input)
            findings = list(_build_findings(chunk.import_id, chunk_input.layout, results))
            write_findings(transaction, findings)
            packed = pack_rows(_list_facts(chunk_input, results))
            families = _list_families(transaction, chunk_input, results)
            names = list_occurrences(results)
            facts = ChunkFacts(names, packed, results.updates, chunk_input.column_facts, families)
            write_facts(transaction, chunk.import_id, chunk.chunk_no, pack_facts(facts))
            if chunk_input.files is not None:
                write_counts(transaction, chunk, chunk_input.layout, chunk_input.files, results)
            counts = _count(chunk_input, results)
            outcome = ChunkOutcome(ChunkStatus.DONE, counts, digest=results.compute_digest())
            complete_chunk(transaction, chunk_input.import_record, chunk.chunk_no, outcome)
    except (UnitEndedError, ImportNotRunningError) as stopped:
        return WriteResult(stopped.status)
    return WriteResult(ChunkStatus.DONE, has_events=False)


def compare_with_case(transaction: Session, chunk_input: ChunkInput) -> RowResults:
    """Return the result that an import would have for every row; the ids of new exhibits are 0."""
    chunk_input.number_missing_names()
    results = RowResults(rejected=[(row, row.errors) for row in chunk_input.rejected])
    if chunk_input.layout.load_mode.is_overlay:
        compare_overlay(transaction, chunk_input, results)
        return results
    held = [row for row in chunk_input.valid if row.control_number in chunk_input.held]
    CaseComparison(chunk_input, results).compare(transaction, held, chunk_input.held)
    results.inserted += ((row, 0) for row in chunk_input.list_new_rows())
    return results


def _list_facts(chunk_input: ChunkInput, results: RowResults) -> Iterator[RowFacts]:
    """Yield what the checks of the whole file need of the rows that would be in the case."""
    columns = FactColumns.find(chunk_input.layout)
    for row in results.list_accepted():
        number = str(row.control_number)
        yield columns.read_cells(row.source.line_no, number, row.values[_PARENT], row.source.cells or ())


def _list_families(transaction: Session, chunk_input: ChunkInput, results: RowResults) -> list[FamilyReference]:
    """Return what the rows would state about families, and what their documents would claim."""
    statements = list_statements(transaction, chunk_input.import_record, chunk_input.layout, results)
    named = [
        FamilyReference(str(stated.kind), stated.key, line_no or 0)
        for _, stated, _, line_no in statements
        if stated.key is not None
    ]
    # The facts of the rows have the ranges of their fields.
    claims = list_claims(chunk_input, results) if states_families(chunk_input.layout) else ()
    named += [FamilyReference(CLAIM, each.bates_begin, each.line_no) for each in claims if each.seq]
    return named + _list_kept_numbers(transaction, chunk_input.layout, statements)


def _list_kept_numbers(
    transaction: Session, layout: Layout, statements: Sequence[RowStatement]
) -> list[FamilyReference]:
    """Return the Bates numbers by which other rows may name the exhibits, where the file has no column for them."""
    lines = {each.exhibit_id: each.line_no or 0 for each in statements if each.exhibit_id}
    if not lines or (layout.find_columns("bates_begin") and layout.load_mode.blanks is Blanks.CLEAR):
        return []
    kept = transaction.execute(select(Exhibits.id, Exhibits.bates_begin).where(is_in(Exhibits.id, list(lines))))
    return [FamilyReference(KEPT, row.bates_begin, lines[row.id]) for row in kept if row.bates_begin]


def _build_findings(import_id: int, layout: Layout, results: RowResults) -> Iterator[FindingRow]:
    for row, errors in results.rejected:
        for seq, error in enumerate(errors):
            yield _build_finding(import_id, row, seq, error)
    accepted = results.list_accepted()
    for row in accepted:
        for seq, change in enumerate(row.changes):
            yield _build_finding(import_id, row, seq, change)
    now = datetime.now(UTC).replace(tzinfo=None)
    for seq, column in enumerate(layout.date_columns):
        name, index = layout.names[column.index], _DATES[column.field]
        for row, finding in _check_dates(name, index, now, accepted):
            yield _build_finding(import_id, row, seq, finding)


def _check_dates(
    name: str, index: int, now: datetime, rows: Sequence[StorableRow]
) -> Iterator[tuple[StorableRow, Finding]]:
    """Yield the rows whose date in a column is before 1970 or in the future; `index` is its place in COLUMNS."""
    for row in rows:
        text = row.values[index]
        # As texts, dates are in order too; few are worth being parsed.
        if text is not None and not _USUAL_FROM <= text <= str(now):
            date = datetime.fromisoformat(text)
            finding = check_date(date, now, row.source.line_no, name, str(row.control_number))
            if finding:
                yield row, finding


def _build_finding(import_id: int, row: StorableRow, seq: int, found: RowError | ValueChange | Finding) -> FindingRow:
    return build_finding(
        import_id,
        found.code.value,
        row.source.line_no,
        seq,
        found.message,
        column=found.column,
        control_number=row.control_number,
    )


def _count(chunk_input: ChunkInput, results: RowResults) -> Counts:
    warnings = sum(len(row.changes) for row in results.list_accepted())
    named = count_named_files(chunk_input.layout, results) if chunk_input.files is None else {}
    return Counts(
        *(len(results.inserted), len(results.unchanged), len(results.updated)),
        *(len(results.rejected), warnings),
        **named,
    )
