"""What is decided by column is, byte for byte, what is decided row by row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.exhibit_history import Key, Kind, encode_changes, encode_stated
from core.imports.overlay import OVERLAID_COLUMNS
from core.load_file.rows import parse_row
from core.texts.packs import TextPack
from shell.db.column_limits import ColumnLimit
from shell.exhibits.updates import KeyedExhibit
from shell.imports.chunks import overlay_rows
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.overlay_rows import ChunkOverlay, DecidedRows
from shell.imports.chunks.results import RowResults
from shell.imports.overlays.column_keys import Candidate
from shell.imports.overlays.links import LinkChanges
from shell.imports.rows.coercion import COLUMNS, RowCoercer, StorableRow
from shell.tables.name_kinds import CUSTODIANS, TAGS
from tests.unit.core.file_reading import Reading, read_file
from tests.unit.core.test_overlay_reference import COLUMNS as CELLS
from tests.unit.core.test_overlay_reference import LATER

TEXT = ColumnLimit(255, None, "utf8mb4", "utf8mb4_bin")
LIMITS = {**dict.fromkeys((*KEYS, *TEXTS), TEXT), "document_properties": ColumnLimit(None, 65_535, "utf8mb4", "")}
HOSTILE = ("\x00\x01\x1f", '"', "\\", "'", "\u2028\u2029", "\U0001f600", "\x7f\x85", "a\\u0000", "]},{[")
NAMED = {"Author": HOSTILE, "Title": HOSTILE, "Color": HOSTILE, 'Na"me\\ \u2028': (*HOSTILE, "<nil>", "")}
WORDS = {name: (*CELLS.get(name, ("", "one", "two")), *NAMED.get(name, ())) for name in [*CELLS, *NAMED]}
LINKS = st.builds(
    LinkChanges,
    st.sampled_from([(), ((CUSTODIANS, 1, "Ann"),), ((TAGS, 2, '"hot"'), (TAGS, 3, "cold"), (CUSTODIANS, 1, "Ann"))]),
    st.sampled_from([(), ((TAGS, 4, "old"),)]),
    st.sampled_from([frozenset(), frozenset([Key(Kind.TAG, "said")])]),
    st.sampled_from([frozenset(), frozenset([Kind.CUSTODIAN])]),
)


class Files(NamedTuple):
    """The files that made some documents, and the one that overlays them, with the links that its rows change."""

    stored: Sequence[Reading]
    overlay: Reading
    links: Sequence[LinkChanges]
    hashed: Sequence[bool]


class Imports:
    """A transaction that knows the columns of the imports."""

    def __init__(self, names: Sequence[Sequence[str]]) -> None:
        self._names = names

    def execute(self, _: object, values: dict[str, str]) -> list[Any]:
        """The columns of these imports, which are numbered."""
        return [SimpleNamespace(id=each, names=json.dumps(self._names[each])) for each in json.loads(values["ids"])]


@st.composite
def files(draw: st.DrawFn, count: int = 4) -> Files:
    def read(rows: int, **options: Any) -> Reading:
        names = ["Control Number", *draw(st.lists(st.sampled_from(sorted(WORDS)), unique=True))]
        cells = [[f"A-{n}", *(draw(st.sampled_from(WORDS[name])) for name in names[1:])] for n in range(rows)]
        return read_csv(names, cells, **options)

    earlier = draw(st.booleans())
    stored = [read(count, columns=dict.fromkeys(LATER, "property") if earlier else {}) for _ in range(2)]
    mode = {"mode": "overlay", "blanks": draw(st.sampled_from(["keep", "keep", "keep", "clear"]))}
    links = draw(st.lists(LINKS, min_size=count, max_size=count))
    hashed = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return Files(stored, read(count, **mode), links, hashed)


def read_csv(names: Sequence[str], cells: Sequence[Sequence[str]], **options: Any) -> Reading:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([names, *cells])
    options["columns"] = {name: value for name, value in options.get("columns", {}).items() if name in names}
    return read_file(text.getvalue().encode(), {"delimiter": ",", "qualifier": '"', **options})


def coerce(reading: Reading) -> list[StorableRow]:
    coercer = RowCoercer(reading.layout, 7, 8, LIMITS, {"custodians": {"name": TEXT}, "tags": {"name": TEXT}})
    return [coercer.coerce(parse_row(record, reading.layout)) for record in reading.records]


def store(row: StorableRow, exhibit_id: int, import_id: int) -> list[Any]:
    """What the database returns of an exhibit that the row created."""
    values = dict(zip(COLUMNS, row.values, strict=True))
    values |= {date: f"{values[date]}.000000" for date in DATE_FIELDS if values[date]}
    return [exhibit_id, import_id, values["document_properties"], *(values[name] for name in OVERLAID_COLUMNS)]


def build_candidates(made: Files) -> list[Candidate]:
    """Every second document is of the second file."""
    rows, stored = coerce(made.overlay), [coerce(each) for each in made.stored]
    found = []
    for index, row in enumerate(rows):
        before = stored[index % 2][index]
        if row.values and before.values:
            row_hash = before.row_hash if made.hashed[index] else None
            exhibit = KeyedExhibit(index, f"A-{index}", None, 3 + index, row_hash, 0)
            found.append(Candidate(row, exhibit, store(before, index, index % 2), made.links[index]))
    return found


def decide(made: Files, candidates: Sequence[Candidate], *, by_column: bool) -> tuple[DecidedRows, RowResults]:
    record, results = SimpleNamespace(corrects_import_id=None), RowResults()
    chunk_input = SimpleNamespace(layout=made.overlay.layout, pack=TextPack(), import_record=record, found_names={})
    overlay = ChunkOverlay(cast("ChunkInput", chunk_input), results)
    transaction = cast("Session", Imports([each.layout.names for each in made.stored]))
    return (overlay._decide_columns if by_column else overlay._decide_rows)(transaction, candidates), results


def list_writes(decided: DecidedRows, candidates: Sequence[Candidate]) -> dict[int, Any]:
    """All that is written of each exhibit that changes."""
    names = (*OVERLAID_COLUMNS, "document_properties", "row_hash")
    writes: dict[int, Any] = {}
    for row, exhibit, update, changes, _, stated in decided.rows:
        values = {**update.columns, "document_properties": update.properties, "row_hash": update.row_hash}
        dates = {date: values[date] and f"{str(values[date])[:19]}.000000" for date in DATE_FIELDS}
        entry = (exhibit.id, exhibit.version + 1, row.source.line_no, encode_changes(changes), encode_stated(stated))
        writes[exhibit.id] = ({name: (values | dates)[name] for name in names}, entry)
    stored = {each.exhibit.id: each for each in candidates}
    for index, encoded in enumerate(decided.columns.entries):
        before = stored[encoded.exhibit_id]
        values = dict(zip(("document_properties", *OVERLAID_COLUMNS), before.stored[2:], strict=True))
        values |= {name: column[index] for name, column in decided.columns.columns.items()}
        writes[encoded.exhibit_id] = ({name: values[name] for name in names}, tuple(encoded))
    return writes


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[str, ColumnLimit]:
    """Those of the columns of exhibits."""
    found = dict(LIMITS)
    monkeypatch.setattr(overlay_rows, "column_limits", lambda _: found)
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=200)
@given(files(), st.sampled_from([65_535, 65_535, 60]))
def test_columns_write_what_rows_write(limits: dict[str, ColumnLimit], made: Files, room: int) -> None:
    limits["document_properties"] = ColumnLimit(None, room, "utf8mb4", "")
    candidates = build_candidates(made)
    rows, expected = decide(made, candidates, by_column=False)
    columns, found = decide(made, candidates, by_column=True)
    assert list_writes(columns, candidates) == list_writes(rows, candidates)
    assert sorted(each for _, each in found.unchanged) == sorted(each for _, each in expected.unchanged)
    changed = {row.source.line_no: row.changes for row, *_ in rows.rows}
    assert all(each.row.changes == changed[each.row.source.line_no] for each in columns.columns.changed)


def test_regular_rows_are_decided_by_column() -> None:
    names = ["Control Number", "Bates Begin", "Parent ID", "Title", "Author", "Date Sent", "Color", "Tags"]
    first = read_csv(names, [[f"A-{n}", f"N-{n}", "", f"one {n}", "Ann", "2001-01-31", "red", "hot"] for n in range(9)])
    rows = [[f"A-{n}", f"N-{n}", "A-1", f"two {n % 2}", HOSTILE[n], "2001-02-28", "", "cold"] for n in range(8)]
    later = read_csv([*names, "New"], [*([*row, "x"] for row in rows), ["A-8", *[""] * 8]], mode="overlay")
    made = Files([first, first], later, [LinkChanges()] * 9, [True] * 9)
    candidates = build_candidates(made)
    decided, results = decide(made, candidates, by_column=True)
    assert (decided.rows, len(decided.columns.changed), len(results.unchanged)) == ([], 8, 1)
    assert list_writes(decided, candidates) == list_writes(decide(made, candidates, by_column=False)[0], candidates)


def test_a_history_by_column_without_companions_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a date that changes and its precision that does not."""
    names = ["Control Number", "Date Sent"]
    made = Files(
        [read_csv(names, [["A-0", "2001-01-31"]])] * 2,
        read_csv(names, [["A-0", "2001-02-28"]], mode="overlay"),
        [LinkChanges()],
        [True],
    )
    candidates = build_candidates(made)
    rows = list_writes(decide(made, candidates, by_column=False)[0], candidates)
    assert list_writes(decide(made, candidates, by_column=True)[0], candidates) == rows
    monkeypatch.setattr("shell.imports.overlays.column_keys.KeyColumns._record_companions", lambda _: None)
    assert list_writes(decide(made, candidates, by_column=True)[0], candidates) != rows
