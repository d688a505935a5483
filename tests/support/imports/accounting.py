"""The sum that every import must come out at: nothing lost, nothing twice, each line where the truth says.

The truth comes from the sample's generator; nothing here is taken from the application's own reading of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from samples.columns import Role
from samples.oracle import Record, Truth, collation_key, is_wide, map_spellings
from tests.support.database.committed_state import Queried
from tests.support.imports.row_outcomes import Accounts, Rejected, Warned, accounts, links, names, summed_over_chunks

FAILED_CHUNK = "CHUNK_FAILED"
_VERBATIM = {Role.ID, Role.BATES_BEGIN, Role.BATES_END, Role.PARENT, Role.DOCUMENT_DATE}
_PATHS = {Role.FILE_NAME, Role.NATIVE_PATH, Role.TEXT_PATH}
_VERBATIM |= {Role.CUSTODIAN, Role.ALL_CUSTODIANS, Role.TAGS}
OF_COLUMNS = {"COLUMN_WITHOUT_EFFECT", "FAMILY_NOT_READ", "NO_DATE_STATED"}


def turned_down(truth: Truth, lines: Collection[int], code: str) -> Truth:
    """The truth when the records at these lines are rejected with `code` for what is not in the file."""
    expected_codes = {code}
    records = [
        replace(r, codes=frozenset(expected_codes), warnings=()) if r.first_line in lines else r for r in truth.records
    ]
    assert {r.first_line for r in records} >= set(lines), "no such lines"
    return replace(truth, records=tuple(records))


def assert_accounted(world: Queried, import_id: int, truth: Truth, *, unchanged: Collection[int] = ()) -> None:
    """Everything that one import recorded is what the truth says; `unchanged` are first lines of equal records."""
    got = accounts(world, import_id)
    _assert_counts(world, import_id, got, truth, unchanged)
    _assert_partition(got, truth, unchanged)
    _assert_rejections(got, truth)
    _assert_warnings(got, truth)
    _assert_links(world, import_id, truth, unchanged)
    _assert_values(world, import_id, truth, unchanged)


def column_name(truth: Truth, role: Role) -> str | None:
    """What the application calls the first column of a role."""
    column = next((each for each in truth.columns if each.role is role), None)
    if column is None:
        return None
    return column.header if truth.has_header else f"Column {column.index + 1}"


def _assert_counts(world: Queried, import_id: int, got: Accounts, truth: Truth, unchanged: Collection[int]) -> None:
    counts = got.counts
    finished = counts["imported"] + counts["unchanged"] + counts["updated"] + counts["rejected"]
    assert counts["rows_seen"] == finished == truth.rows_seen
    assert counts["rejected"] == len(truth.rejected)
    assert counts["unchanged"] == len(unchanged)
    assert counts["imported"] == len(truth.imported) - len(unchanged)
    assert counts["warnings"] == len(got.warned)
    assert got.status == ("completed_with_rejections" if truth.rejected else "completed")
    assert got.chunks_left == 0
    chunks = summed_over_chunks(world, import_id)
    assert chunks.pop("row_count") == counts["rows_seen"]
    assert chunks == {name: counts[name] for name in chunks}


def _assert_partition(got: Accounts, truth: Truth, unchanged: Collection[int]) -> None:
    """Every record's line is in exactly one place, and no other line is anywhere."""
    seen = Counter(list(got.exhibits) + list(unchanged))
    for rejected in _one_a_record(got.rejected):
        seen.update(_lines_covered(rejected, truth))
    assert seen == Counter(record.first_line for record in truth.records)
    assert set(got.exhibits) == {r.first_line for r in truth.imported} - set(unchanged)
    records = {record.first_line: record for record in truth.records}
    for line, (control, line_count) in got.exhibits.items():
        record = records[line]
        assert (control, line_count) == (record.control_number, record.line_count)


def _one_a_record(rejected: list[Rejected]) -> Iterator[Rejected]:
    """A record that has several problems has a row for each."""
    yield from {each.line: each for each in rejected}.values()


def _lines_covered(rejected: Rejected, truth: Truth) -> list[int]:
    if rejected.code != FAILED_CHUNK:
        assert rejected.row_count == 1
        return [rejected.line]
    covered = [record for record in truth.records if record.first_line >= rejected.line][: rejected.row_count]
    end = rejected.byte_start + rejected.byte_len
    assert rejected.byte_start <= covered[0].byte_start
    assert end == covered[-1].byte_start + covered[-1].byte_len
    return [record.first_line for record in covered]


def _assert_rejections(got: Accounts, truth: Truth) -> None:
    expected = {r.first_line: set(r.codes) for r in truth.rejected if FAILED_CHUNK not in r.codes}
    found = {line: codes for line, codes in got.codes().items() if codes != {FAILED_CHUNK}}
    assert found == expected
    entries = [(each.line, each.code, each.column) for each in got.rejected]
    assert len(entries) == len(set(entries)), "a reason is listed twice"
    for rejected in got.rejected:
        if rejected.code != FAILED_CHUNK:
            _assert_rejection(rejected, truth.at_line(rejected.line), truth)


def _assert_rejection(rejected: Rejected, record: Record, truth: Truth) -> None:
    assert (rejected.byte_start, rejected.byte_len) == (record.byte_start, record.byte_len)
    # Which columns differ depends on what the case holds.
    if rejected.code != "EXISTS_WITH_OTHER_VALUES":
        assert rejected.column == _blamed_column(rejected.code, record, truth)
    if rejected.code == "DUPLICATE_ID":
        assert f"Line {record.duplicate_of_line} " in rejected.message
    readable = rejected.code not in ("WRONG_CELL_COUNT", "MALFORMED_QUOTING")
    shown = (record.control_number or "")[:255] or None
    assert rejected.control_number == (shown if readable else None)


def _blamed_column(code: str, record: Record, truth: Truth) -> str | None:
    if code in ("MISSING_ID", "KEY_TOO_LONG"):
        return column_name(truth, Role.ID)
    if code == "UNDECODABLE_BYTES":
        return column_name(truth, Role.TITLE)
    if code == "KEY_NOT_STORABLE":
        return column_name(truth, Role.ID if is_wide(record.control_number or "") else Role.CUSTODIAN)
    return None


def _assert_warnings(got: Accounts, truth: Truth) -> None:
    # What the values of a column amount to is compared where the truth states it, and in the tests of these codes.
    unstated = OF_COLUMNS - set(truth.file_warnings)
    of_file = (each.code for each in got.warned if each.line == 0 and each.code not in unstated)
    assert sorted(of_file) == sorted(truth.file_warnings)
    found = Counter(each for each in got.warned if each.line)
    assert found == Counter(_expected_warnings(truth))


def _expected_warnings(truth: Truth) -> Iterator[Warned]:
    kept = map_spellings(record.custodians for record in truth.imported)
    warned: set[str] = set()
    for record in truth.imported:
        merged = [warning for warning in record.warnings if warning.code == "NAME_MERGED"]
        for warning in record.warnings:
            if warning not in merged:
                yield Warned(record.first_line, warning.code, _renamed(truth, warning.column))
        yield from _expected_merges(truth, record, kept, warned)
        yield from _expected_mixed_newlines(truth, record)


def _expected_merges(truth: Truth, record: Record, kept: dict[str, str], warned: set[str]) -> Iterator[Warned]:
    """One warning for each spelling that is not kept, at the lowest line that has it."""
    for name in record.custodians:
        if kept[collation_key(name)] != name and name not in warned:
            warned.add(name)
            cell = truth.cell(record, Role.CUSTODIAN) or ""
            role = Role.CUSTODIAN if name in cell else Role.ALL_CUSTODIANS
            yield Warned(record.first_line, "NAME_MERGED", column_name(truth, role))


def _expected_mixed_newlines(truth: Truth, record: Record) -> Iterator[Warned]:
    """Where a record has real line ends, a mark that was turned into one is reported; paths keep the mark."""
    for column in truth.columns if truth.newline_mark else ():
        name = column.header if truth.has_header else f"Column {column.index + 1}"
        if column.role not in _PATHS and name.endswith("Path"):
            continue
        code = "NEWLINE_MARK_KEPT" if column.role in _PATHS else "MIXED_NEWLINES" * (record.line_count > 1)
        if code and column.role not in _VERBATIM and truth.newline_mark in record.cells[column.index]:
            yield Warned(record.first_line, code, name)


def _renamed(truth: Truth, column: str) -> str:
    return column if truth.has_header else f"Column {column}"


def _assert_links(world: Queried, import_id: int, truth: Truth, unchanged: Collection[int]) -> None:
    written = [record for record in truth.imported if record.first_line not in unchanged]
    for kind in ("custodians", "tags"):
        expected = {(r.control_number, collation_key(name)) for r in written for name in getattr(r, kind)}
        assert links(world, import_id, kind) == expected
        held, alone = names(world, import_id, kind)
        ours = truth.custodian_names if kind == "custodians" else truth.tag_names
        if alone:
            assert held == ours
        else:
            assert {collation_key(name) for name in held} >= {collation_key(name) for name in ours}


def _assert_values(world: Queried, import_id: int, truth: Truth, unchanged: Collection[int]) -> None:
    """Dates and parents, which are read out of cells."""
    rows = world.query(
        "SELECT line_no, document_date, parent_control_number FROM exhibits WHERE import_id = :id", id=import_id
    )
    found = {line: (date, parent) for line, date, parent in rows}
    written = [record for record in truth.imported if record.first_line not in unchanged]
    assert found == {r.first_line: (r.document_date, _parent(r, truth)) for r in written}


def _parent(record: Record, truth: Truth) -> str | None:
    """Where there is neither a parent column nor an id beside the Bates numbers, the family's first document."""
    has_parents = column_name(truth, Role.PARENT) is not None
    if has_parents or not truth.has_header or not _id_is_bates(truth) or record.family_begin == record.control_number:
        return record.parent
    return record.family_begin


def _id_is_bates(truth: Truth) -> bool:
    header = next(column.header for column in truth.columns if column.role is Role.ID).casefold()
    return "doc_id" not in header and "docid" not in header and "doc id" not in header and "control" not in header
