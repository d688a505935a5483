"""A record whose quoting is damaged is lost; the one after it is not, and no text makes reading slow."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.load_file import encoding as enc
from core.load_file import record_batches, record_reader
from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar, LineCursor
from core.load_file.quote_recovery import DamagedText
from core.load_file.record_reader import read_records, strict_reader
from samples.dialects import DIALECTS, Dialect, Quoting, render
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from samples.strategies import quotings
from tests.unit.core.file_reading import every, read_file

QUOTED = [(dialect, quoting) for dialect in DIALECTS if dialect.qualifier for quoting in quotings(dialect)]
HEADER = b"Control Number,Title,Note\n"
QUOTED_HEADER = b'"Control Number","Title","Note"\n'


def cells_of(*lines: str, header: bytes = HEADER) -> list[list[str] | None]:
    """What is read of the lines after a header of three columns, as it is whatever the blocks and chunks."""
    data = header + "\n".join(lines).encode()
    cells = read_file(data).cells
    assert cells == read_file(data, chunk_rows=1, cuts=every(1, data)).cells
    return cells


@pytest.mark.parametrize(("dialect", "quoting"), QUOTED, ids=lambda value: getattr(value, "name", value))
def test_an_unclosed_quote_costs_one_record_in_every_dialect(dialect: Dialect, quoting: Quoting) -> None:
    spec = Spec(rows=12, dialect=dialect, quoting=quoting, explicit_dialect=True, embedded_newlines=True, spice=0.8)
    for seed in range(4):
        faults = tuple(Fault(FaultKind.UNCLOSED_QUOTE, row) for row in (2, 6, 11))
        generated = generate(replace(spec, seed=seed, faults=faults))
        records = read_file(generated.data, generated.options, chunk_rows=5).records
        assert [record.line_no for record in records] == [true.first_line for true in generated.truth.records]
        assert [n for n, record in enumerate(records) if record.cells is None] == [2, 6, 11]


@pytest.mark.parametrize(("dialect", "quoting"), QUOTED, ids=lambda value: getattr(value, "name", value))
def test_a_lenient_reader_swallows_the_neighbour_that_ours_keeps(dialect: Dialect, quoting: Quoting) -> None:
    """The negative control: the csv module's own idea of an unclosed quote."""
    header = render(["Control Number", "Title", "Note"], dialect, Quoting.ALL)
    rows = [["1", "first", "a"], ["2", "second", "b"], ["3", "third", "c"]]
    unclosed = [None, 2 if quoting is Quoting.ALL else 1, None]
    lines = [header, *(render(r, dialect, quoting, u) for r, u in zip(rows, unclosed, strict=True))]
    naive = list(csv.reader([line + "\n" for line in lines], delimiter=dialect.delimiter, quotechar=dialect.qualifier))
    assert rows[2] not in naive
    ours = read_file("\n".join(lines).encode()).cells
    assert ours == [rows[0], None, rows[2]]


Cells = list[list[str] | None]
READ: dict[str, tuple[list[str], Cells]] = {
    "a quote inside a cell": (['1,"a"b,c', "2,d,e", '3,f,"g"'], [None, ["2", "d", "e"], ["3", "f", "g"]]),
    "a quote in a bare cell": (['1,5" pipe,a', '2,b"c"d,e"'], [["1", '5" pipe', "a"], ["2", 'b"c"d', 'e"']]),
    "doubled quotes": (['1,"a""b",""""', '2,"""",""'], [["1", 'a"b', '"'], ["2", '"', ""]]),
    "spaces after a closing quote": (['1,"a" ,"b"  ', '2,"c",d'], [["1", "a", "b"], ["2", "c", "d"]]),
    # Taken for a record of its own, the second line would be an exhibit that was not produced.
    "a wrong number of cells": (['1,"a', 'ledger,policy"', "3,d,e"], [["1", "a\nledger,policy"], ["3", "d", "e"]]),
    "the last record, a quote": (["1,a,b", '2,"'], [["1", "a", "b"], None]),
    "the last record, a line": (["1,a,b", '2,"b'], [["1", "a", "b"], None]),
    "the last record, more lines": (["1,a,b", '2,"b,c', "more", "and more"], [["1", "a", "b"], None]),
    "lines that continue": (['1,"a', "second line", "third, line", "2,b,c"], [None, ["2", "b", "c"]]),
    "a bare CR": (["1,a\rb,c", '2,"d\re",f'], [["1", "a\rb", "c"], ["2", "d\re", "f"]]),
    "a bare CR after a damaged cell": (['1,"a\rb,c', "2,d,e"], [None, ["2", "d", "e"]]),
    "an empty quoted cell between damaged records": (
        ['1,"x', "2,b,c", '""', "3,d,e", '4,"f"g'],
        [None, ["2", "b", "c"], ["3", "d", "e"], None],
    ),
    "an empty quoted cell and a space": (['"" ', "3,d,e"], [["3", "d", "e"]]),
}


BLANK = b'\r\n\t\x0b\x0c ",'


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name: str) -> None:
    lines, cells = READ[name]
    assert cells_of(*lines) == cells


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029", "\v", "\f", "\x1c", "\x1d", "\x1e"])
def test_lines_end_at_lf_alone(mark: str) -> None:
    text = f"1,a{mark}b,c\n"
    assert len(text.splitlines()) == 2, "the negative control cuts the record"
    assert cells_of(text.rstrip("\n")) == [["1", f"a{mark}b", "c"]]


def test_a_record_that_closes_only_many_cells_later_has_swallowed_its_neighbours() -> None:
    cells = cells_of(*['x",y,"b'] * 30, "3,d,e")
    assert cells[-1] == ["3", "d", "e"]
    assert len(cells) > 2


def test_two_damaged_records_in_a_row_are_two() -> None:
    lines = ('"1","a,x', '"2","b,y', '"3","c","z"')
    assert cells_of(*lines, header=QUOTED_HEADER) == [None, None, ["3", "c", "z"]]


def test_a_spare_cell_may_be_quoted_also_between_damaged_records() -> None:
    assert cells_of('"', '""\t"', '"\t""', header=b'"DOCID"\t"Title"\t\n') == [['\n"\t'], None]


def test_a_damaged_record_of_several_lines_is_counted_with_all_of_them() -> None:
    data = HEADER + b'1,"a\nsecond\n2,b,c\n'
    first, second = read_file(data).records
    assert (first.line_no, first.line_count, first.byte_start) == (2, 2, len(HEADER))
    assert (second.line_no, second.byte_start) == (4, data.index(b"2,b"))


PIECES = st.sampled_from(['"', '""', ",", "\n", "\r\n", "\r", "a", "1", " ", '","', '"\n"', ',"'])


@given(st.lists(PIECES, max_size=40).map("".join), st.booleans(), st.booleans(), st.data())
def test_garbage_is_read_alike_whatever_the_blocks_and_chunks_and_each_character_once(
    text: str, quoted: bool, cr_ends: bool, data: st.DataObject
) -> None:
    raw = (QUOTED_HEADER if quoted else HEADER) + text.encode()
    raw = raw.replace(b"\r", b"").replace(b"\n", b"\r") if cr_ends else raw
    cuts = data.draw(st.sets(st.integers(0, len(raw)), max_size=10))
    pieces = read_file(raw, chunk_rows=data.draw(st.integers(1, 4)), cuts=cuts)
    whole = read_file(raw)
    assert pieces.records == pieces.records_at_once() == whole.records
    at = whole.layout.body_start
    for record in whole.records:
        # Blank rows are between the others.
        assert raw[at : record.byte_start].strip(BLANK) == b""
        at = record.byte_start + record.byte_len
    assert raw[at:].strip(BLANK) == b""


@given(st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=3, max_size=3))
def test_whatever_garbage_stands_before_it_a_whole_quoted_record_is_found(cells: list[str]) -> None:
    good = '"77","alpha","omega"'
    data = f"{','.join(cells)}\n{good}\n{good}".encode()
    assert ["77", "alpha", "omega"] in read_file(QUOTED_HEADER + data).cells


class Work:
    """How much is divided into lines, read by the csv module and joined for the patterns."""

    def __init__(self) -> None:
        self.characters = 0

    def split_lines(self, raw: bytes, encoding: str, cr_ends: bool = False) -> Lines:
        self.characters += len(raw)
        return _split_lines(raw, encoding, cr_ends)

    def strict_reader(self, lines: Iterator[str], grammar: Grammar) -> Any:
        return strict_reader(self._passed_on(lines), grammar)

    def damaged_text(self, lines: list[str], grammar: Grammar, at_end: bool, mark: str | None = None) -> DamagedText:
        self.characters += sum(map(len, lines))
        return DamagedText(lines, grammar, at_end, mark)

    def _passed_on(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self.characters += len(line)
            yield line


_split_lines = enc.split_lines
LINES = ['1,"b', '1,"""b', 'x",y,"b', '1,"a"b', '"a",,"', '"",""",', '1,"a",b,c\n"', '1,"a\n"', '"1","a"b', '"']


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    counted = Work()
    monkeypatch.setattr(enc, "split_lines", counted.split_lines)
    monkeypatch.setattr(record_reader, "DamagedText", counted.damaged_text)
    for module in (record_reader, record_batches):
        monkeypatch.setattr(module, "strict_reader", counted.strict_reader)
    return counted


@pytest.mark.parametrize("header", [HEADER, QUOTED_HEADER], ids=["bare", "quoted"])
@pytest.mark.parametrize("line", LINES)
def test_every_character_is_read_a_few_times_whatever_the_text(line: str, header: bytes, work: Work) -> None:
    """A pattern that looked at parts of a cell again would not end."""
    data = header + f"{line}\n".encode() * 4_000
    reading = read_file(data, cuts=every(1_024, data))
    assert sum(record.line_count for record in reading.records) <= 8_000
    assert work.characters < 20 * len(data)


def test_reading_a_part_says_from_where_to_go_on() -> None:
    cursor = LineCursor()
    texts = ["1,a,b\n", '2,"open\n']
    part = list(read_records(Lines(texts, []), Grammar(",", '"', 3), at_end=False, cursor=cursor))
    assert [record.cells for record in part] == [["1", "a", "b"]]
    assert cursor.consumed == 1
