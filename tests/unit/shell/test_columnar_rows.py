"""Rows that are read by column are, value for value, those that are read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exhibit_fields import KEYS, LATER_TEXTS, TEXTS
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.list_values import ListSigns
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import MAX_NAMES, parse_row
from samples.generator import generate
from samples.spec import Spec
from samples.strategies import specs
from shell.db.column_limits import ColumnLimit
from shell.imports.rows import coercion
from shell.imports.rows.coercion import RowCoercer, StorableRow
from shell.imports.rows.columnar_rows import columnar_rows
from shell.settings import properties_format
from tests.unit.core.file_reading import read_file

PROPERTIES = coercion.COLUMNS.index("document_properties")
NAMES = ("Id", "Bates", "Custodian", "Other Custodian", "Tags", "Title", "Date", "Begin Attach", "Note", "Path ü")
FIELDS = (
    *("control_number", "bates_begin", "custodians", "custodians"),
    *("tags", "title", "document_date", "family_begin", None, "native_path"),
)
BY_BATES = (None, *FIELDS[1:])
WITH_PARENTS = (*FIELDS[:8], "parent_control_number", None)
NUMBERED = (*FIELDS[:9], "original_line")
WITH_TEXTS = (*FIELDS[:8], "extracted_text", "text_path")
EVENTS = ("control_number", "date_sent", "time_sent", *FIELDS[3:6], "date_received", *FIELDS[7:])
WITH_OWN = ("control_number", "document_time", "date_modified", *FIELDS[3:])
WITH_LATER = [(*fields[:4], *LATER_TEXTS, *fields[4 + len(LATER_TEXTS) :]) for fields in (FIELDS, EVENTS, WITH_OWN)]


def coercer(layout: Layout, charset: str = "utf8mb3", characters: int = 12, room: int = 2_000) -> RowCoercer:
    """Of columns so short that most kinds of text can be too long for one."""
    short = ColumnLimit(characters, None, charset, f"{charset}_bin")
    exhibits = {**dict.fromkeys((*KEYS, *TEXTS), short), "document_properties": ColumnLimit(None, room, charset, "")}
    return RowCoercer(layout, 7, 8, exhibits, {"custodians": {"name": short}, "tags": {"name": short}})


def one_by_one(records: Sequence[SourceRecord], coercer: RowCoercer) -> list[StorableRow]:
    return [coercer.coerce(parse_row(record, coercer.layout)) for record in records]


def by_column(records: Sequence[SourceRecord], coercer: RowCoercer) -> tuple[list[StorableRow], int]:
    """The rows in file order, and how many of them were plain."""
    plain, rest = columnar_rows(records, coercer)
    rows = [*plain.build_rows(with_values=True, with_properties=True), *one_by_one(rest, coercer)]
    return sorted(rows, key=lambda row: row.source.line_no), len(records) - len(rest)


def comparable(row: StorableRow) -> StorableRow:
    """The row with lists and tuples alike."""
    return row._replace(
        custodians=list(row.custodians), tags=list(row.tags), errors=list(row.errors), changes=list(row.changes)
    )


def assert_alike(records: Sequence[SourceRecord], coercer: RowCoercer) -> int:
    rows, plain = by_column(records, coercer)
    assert list(map(comparable, rows)) == list(map(comparable, one_by_one(records, coercer)))
    return plain


def layout(fields: Sequence[str | None] = FIELDS, newline: str | None = "®") -> Layout:
    return Layout("utf-8", Grammar(",", '"', len(NAMES)), newline, NAMES, tuple(fields), "MDY", 0, 1)


def records(rows: Sequence[Sequence[str] | None], line_count: int = 1) -> list[SourceRecord]:
    return [
        SourceRecord(line, line_count, 100 * line, 100, None if cells is None else list(cells))
        for line, cells in enumerate(rows, start=1)
    ]


TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Z", "Cc", "Cf"]), max_size=14)
SPECIAL = st.sampled_from(
    [
        *("", " ", "<nil>", "a®b", "®", "'", '"', "\\", "\\'", "\t", "a\nb", "\x00", "\x1f", "\x7f", "\x85", "\u2028"),
        *("\ufeff", "\U0001f600", "\udc80", "\ud800", "x" * 13, "00/00/0000", "5/6/2001", "31/31/2001", " 5/6/2001 "),
        *("A; B", "A;A", ";", "a;A ;b", "; ".join("ab"), "x" * 13 + ";y", "Id 1", " Id 1", "2001-02-03T04:05:06Z"),
        *("14:30", "1:30", "11/1/2020 1:30", "3/8/2020 2:30", "11/1/2020", "3/8/2020 0:00", "1/1/1000 0:30", "now"),
        *("L7", "New", "07", "Id 1\t", ";" * MAX_NAMES, "A®B;A", "®" * MAX_NAMES, "x" * 7 + "®" + "y" * 7),
    ]
)
CELLS = st.one_of(SPECIAL, TEXT, st.sampled_from(["Id 1", "Id 2", "Smith", "1/2/2003", "plain"]))
ROWS = st.lists(st.lists(CELLS, min_size=len(NAMES) - 1, max_size=len(NAMES) + 1) | st.none(), max_size=6)


MAPPINGS = [
    FIELDS,
    BY_BATES,
    WITH_PARENTS,
    (None, *WITH_PARENTS[1:]),
    NUMBERED,
    WITH_TEXTS,
    EVENTS,
    WITH_OWN,
    *WITH_LATER,
]
COLUMNS = frozenset((*KEYS, *TEXTS, "document_properties", "custodians", "tags"))


@pytest.mark.parametrize("newline", ["®", None, "n"])
@given(
    rows=ROWS,
    fields=st.sampled_from(
        [FIELDS, BY_BATES, WITH_PARENTS, (None, *WITH_PARENTS[1:]), NUMBERED, WITH_TEXTS, EVENTS, WITH_OWN, *WITH_LATER]
    ),
    lines=st.sampled_from([1, 2]),
    wide=st.sampled_from([COLUMNS, frozenset[str]()]) | st.frozensets(st.sampled_from(sorted(COLUMNS))),
)
def test_any_cells_come_out_alike_whichever_columns_were_widened(
    newline: str | None, rows: list[list[str] | None], fields: Sequence[str | None], lines: int, wide: frozenset[str]
) -> None:
    narrow, widened = (coercer(layout(fields, newline), charset) for charset in ("utf8mb3", "utf8mb4"))
    exhibits = {name: (widened if name in wide else narrow).exhibits[name] for name in narrow.exhibits}
    names = {name: (widened if name in wide else narrow).names[name] for name in narrow.names}
    assert_alike(records(rows, lines), replace(narrow, exhibits=exhibits, names=names))


TIMESTAMPS = st.sampled_from(
    [
        *("", " ", "0", "1/2/2003", "11/1/2020", "3/8/2020 0:00", "3/8/2020 2:30", "11/1/2020 1:30", "1/1/1000 0:30"),
        *("14:30", "1:30", "1:30 Z", "now", "2001-02-03T04:05:06Z", "12/31/9999 23:00", "31/1/2020", "1/2/2003®"),
        *("5/21/01", "5/21/2001 3:00 PM EST", "N/A", "1/1/1900", "3:00 PM EDT", "20010521150000", "37032", "May 2001"),
    ]
)
DATED_ROWS = st.lists(st.tuples(*[TIMESTAMPS] * 4), min_size=1, max_size=8)


@given(
    timestamps=DATED_ROWS,
    fields=st.sampled_from([EVENTS, WITH_OWN, *WITH_LATER]),
    zone=st.sampled_from([None, "America/New_York"]),
    hashed=st.sampled_from([None, 1, 2, 6]),
    orders=st.sampled_from([{}, {"date_received": "DMY"}]),
    rules=st.sampled_from([1, 2]),
    formats=st.sampled_from([{}, {"date_received": "%m/%d/%Y"}, {"date_sent": "excel"}]),
)
def test_any_dates_and_times_come_out_alike(
    timestamps: list[tuple[str, ...]],
    fields: Sequence[str | None],
    zone: str | None,
    hashed: int | None,
    orders: dict[str, str],
    rules: int,
    formats: dict[str, str],
) -> None:
    rows = [
        (f"Id {line}", first, second, "", "", "", third, "", fourth, "")
        for line, (first, second, third, fourth) in enumerate(timestamps)
    ]
    of_file = replace(layout(fields), time_zone=zone, hashed_date=hashed, date_orders=orders)
    of_file = replace(of_file, date_rules=rules, date_formats=formats)
    assert_alike(records(rows), coercer(of_file))


@given(timestamps=DATED_ROWS, fields=st.sampled_from([FIELDS, EVENTS, WITH_OWN, *WITH_LATER]))
def test_the_hash_of_earlier_versions_is_among_those_of_a_row(
    timestamps: list[tuple[str, ...]], fields: Sequence[str | None]
) -> None:
    rows = [
        (f"Id {line}", first, second, "", "", "", third, "", fourth, "")
        for line, (first, second, third, fourth) in enumerate(timestamps)
    ]
    before, now = (
        one_by_one(records(rows), coercer(replace(layout(fields), date_rules=rules), characters=99)) for rules in (1, 2)
    )
    assert [new.is_equal(old.row_hash) for old, new in zip(before, now, strict=True)] == [True] * len(rows)
    assert all(
        set(old.earlier_hashes) <= {new.row_hash, *new.earlier_hashes} for old, new in zip(before, now, strict=True)
    )


@given(
    cells=st.lists(st.tuples(*[st.text(st.sampled_from('ab;|/" \\®'), max_size=9)] * 3), min_size=1, max_size=6),
    signs=st.sampled_from([ListSigns(), ListSigns("|", None, True), ListSigns(";", "/", True)]),
)
def test_any_lists_come_out_alike(cells: list[tuple[str, str, str]], signs: ListSigns) -> None:
    rows = [(f"Id {line}", "", *each, *[""] * 5) for line, each in enumerate(cells)]
    assert_alike(records(rows), coercer(replace(layout(), lists=signs)))


def test_rows_with_dates_and_times_are_plain_unless_they_have_a_warning() -> None:
    cells = [("5/6/2020", "14:30"), ("5/6/2020", ""), ("", ""), ("11/1/2020", "1:30"), ("5/6/2020", "now")]
    rows = [(f"Id {line}", date, time, *[""] * 7) for line, (date, time) in enumerate(cells)]
    assert assert_alike(records(rows), coercer(replace(layout(EVENTS), time_zone="America/New_York"))) == 3


@pytest.mark.parametrize("fields", [FIELDS, BY_BATES])
def test_an_id_with_a_line_break_inside_is_rejected(fields: Sequence[str | None]) -> None:
    ids = ("a\nb", "a\r\nb", "a\rb", "ab\n")
    rows, _ = by_column(records([(each, each, *ORDINARY[2:]) for each in ids]), coercer(layout(fields)))
    assert [[error.code for error in row.errors] for row in rows] == [["KEY_NOT_STORABLE"]] * 3 + [[]]


@given(specs(headers=(True,)))
def test_any_load_file_comes_out_alike(spec: Spec) -> None:
    made = generate(spec)
    reading = read_file(made.data, made.options)
    for characters in (12, 255):
        assert_alike(reading.records, coercer(reading.layout, spec.db_charset, characters))


ORDINARY = ("Id 1", "Id 1", "Smith®Jones", "Lee", "Hot", "A®title", "1/2/2003 4:05 PM", "Id 0", "it's ®", "1,5")


@pytest.mark.parametrize("fields", [FIELDS, BY_BATES])
def test_ordinary_rows_are_plain(fields: Sequence[str | None]) -> None:
    rows = [ORDINARY, ("Id 2", "Id 2", *[""] * 8), ("Id 3", "Id 3", "", "", "", "é", "", "Id 3", "ünïcödé", "\u20ac")]
    assert assert_alike(records(rows), coercer(layout(fields))) == len(rows)


def test_the_line_of_an_error_file_is_neither_a_value_nor_in_the_hash() -> None:
    rows = [[*ORDINARY[:9], line] for line in ("new", "L7", "L9999999999", "", "x", "\udce9")]
    found, regular = by_column(records(rows), coercer(layout(NUMBERED)))
    assert regular == 3
    assert [bool(row.errors) for row in found] == [False] * 3 + [True] * 3
    (blank,), _ = by_column(records([[*ORDINARY[:9], ""]]), coercer(layout()))
    assert {row.row_hash for row in found[:3]} == {blank.row_hash}
    assert {row.values[:-2] for row in found[:3]} == {blank.values[:-2]}
    assert_alike(records(rows), coercer(layout(NUMBERED)))


def test_rows_of_an_error_file_that_a_qualifier_joins_are_not_read_by_column() -> None:
    reading = read_file(b'DOCID,Title,Note,ExhibitIngestLine\n1,"Jones,L2\nSmith",z,L4\n2,"a\nb",c,L5\n')
    assert assert_alike(reading.records, coercer(reading.layout)) == 1
    rows, _ = by_column(reading.records, coercer(reading.layout))
    assert [[error.code for error in row.errors] for row in rows] == [["MALFORMED_QUOTING"], []]


GROWING = ("\x01", "\x7f", "'", '"', "\\", "\x85", "\u2028", "\ufeff", "\u20ac", "\U0001f600", "\x01\x7f")


@pytest.fixture(params=["json", "yaml"])
def written_as(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The value of PROPERTIES_FORMAT."""
    monkeypatch.setenv("PROPERTIES_FORMAT", request.param)
    properties_format.cache_clear()
    yield request.param
    monkeypatch.undo()
    properties_format.cache_clear()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-8", "cp1252"])
@pytest.mark.parametrize("cell", GROWING)
def test_plain_properties_fit_whatever_becomes_of_a_byte(cell: str, encoding: str, written_as: str) -> None:
    """The longest cell that is plain still fits: the stored form is written once, and not measured."""
    room, plain = 2_000, False
    fit, size = coercer(layout(), "utf8mb4", room=room), len(cell.encode(encoding, "replace"))
    for times in range(1, room, room // 50):
        # One character that YAML cannot print puts all of them into double quotes.
        text = cell * times + "\x7f"
        record = SourceRecord(1, 1, 0, times * size + 10, ["Id 1", *[""] * 7, text, ""])
        rows = list(columnar_rows([record], fit)[0].build_rows(with_values=True, with_properties=True))
        assert not rows or len(rows[0].values[PROPERTIES].encode()) <= room, times
        plain = plain or bool(rows)
    assert plain, "short ones are"


def test_nothing_is_plain_under_a_header_that_the_database_cannot_hold() -> None:
    wide = replace(layout(), names=(*NAMES[:-1], "\U0001f600"))
    assert assert_alike(records([ORDINARY]), coercer(wide)) == 0
    assert assert_alike(records([ORDINARY]), coercer(wide, "utf8mb4")) == 1
