"""A record whose quoting is damaged is lost; the one behind it is not, and no text makes reading slow."""

from __future__ import annotations

import csv
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar, LineCursor
from core.load_file.record_reader import read_records
from samples.dialects import DIALECTS, Dialect, Quoting, render
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from samples.strategies import quotings
from tests.unit.core.reading import every, read_file

QUOTED = [(dialect, quoting) for dialect in DIALECTS if dialect.qualifier for quoting in quotings(dialect)]
HEADER = b"Control Number,Title,Note\n"
QUOTED_HEADER = b'"Control Number","Title","Note"\n'
GRAMMAR = Grammar(",", '"', 3)


def cells_of(*lines: str, header: bytes = HEADER) -> list[list[str] | None]:
    """What is read of the lines behind a header of three columns, as it is whatever the blocks and chunks."""
    data = header + "\n".join(lines).encode()
    cells = read_file(data).cells
    assert cells == read_file(data, chunk_rows=1, cuts=every(1, data)).cells
    return cells


@pytest.mark.parametrize(("dialect", "quoting"), QUOTED, ids=lambda value: getattr(value, "name", value))
def test_an_unclosed_quote_costs_one_record_in_every_dialect(dialect: Dialect, quoting: Quoting) -> None:
    spec = Spec(rows=12, dialect=dialect, quoting=quoting, explicit_dialect=True, embedded_newlines=True, spice=0.8)
    for seed in range(8):
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


def test_a_quote_inside_a_cell_damages_its_own_record_alone() -> None:
    assert cells_of('1,"a"b,c', "2,d,e", '3,f,"g"') == [None, ["2", "d", "e"], ["3", "f", "g"]]


def test_a_quote_in_a_bare_cell_is_text() -> None:
    assert cells_of('1,5" pipe,a', '2,b"c"d,e"') == [["1", '5" pipe', "a"], ["2", 'b"c"d', 'e"']]


def test_a_doubled_quote_is_one_and_only_a_doubled_one() -> None:
    assert cells_of('1,"a""b",""""', '2,"""",""') == [["1", 'a"b', '"'], ["2", '"', ""]]


def test_spaces_behind_a_closing_quote_are_allowed() -> None:
    assert cells_of('1,"a" ,"b"  ', '2,"c",d') == [["1", "a", "b"], ["2", "c", "d"]]


def test_no_line_of_a_record_that_closes_with_the_wrong_number_of_cells_becomes_a_record() -> None:
    """Taken for a record of its own, the second line would be an exhibit that nobody produced."""
    lines = ['1,"a', 'ledger,policy"', "3,d,e"]
    assert cells_of(*lines) == [["1", "a\nledger,policy"], ["3", "d", "e"]]


def test_a_record_that_closes_only_many_cells_later_has_swallowed_its_neighbours() -> None:
    lines = ['x",y,"b'] * 30 + ["3,d,e"]
    assert cells_of(*lines)[-1] == ["3", "d", "e"]
    assert len(cells_of(*lines)) > 2


def test_two_damaged_records_in_a_row_are_two() -> None:
    lines = ('"1","a,x', '"2","b,y', '"3","c","z"')
    assert cells_of(*lines, header=QUOTED_HEADER) == [None, None, ["3", "c", "z"]]


def test_a_damaged_last_record_is_found_at_the_end_of_the_file() -> None:
    for last in ('2,"', '2,"b', '2,"b,c\nmore\nand more'):
        assert cells_of("1,a,b", last) == [["1", "a", "b"], None]


def test_lines_that_continue_a_damaged_record_belong_to_it() -> None:
    assert cells_of('1,"a', "second line", "third, line", "2,b,c") == [None, ["2", "b", "c"]]


def test_a_damaged_record_of_several_lines_is_counted_with_all_of_them() -> None:
    data = HEADER + b'1,"a\nsecond\n2,b,c\n'
    first, second = read_file(data).records
    assert (first.line_no, first.line_count, first.byte_start) == (2, 2, len(HEADER))
    assert (second.line_no, second.byte_start) == (4, data.index(b"2,b"))


def test_a_bare_carriage_return_is_data() -> None:
    assert cells_of("1,a\rb,c", '2,"d\re",f') == [["1", "a\rb", "c"], ["2", "d\re", "f"]]
    assert cells_of('1,"a\rb,c', "2,d,e") == [None, ["2", "d", "e"]]


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029", "\v", "\f", "\x1c", "\x1d", "\x1e"])
def test_lines_end_at_lf_alone(mark: str) -> None:
    text = f"1,a{mark}b,c\n"
    assert len(text.splitlines()) == 2, "the negative control cuts the record"
    assert cells_of(text.rstrip("\n")) == [["1", f"a{mark}b", "c"]]


def test_an_empty_quoted_cell_alone_is_a_record_also_between_damaged_ones() -> None:
    lines = ['1,"x', "2,b,c", '""', "3,d,e", '4,"f"g']
    assert cells_of(*lines) == [None, ["2", "b", "c"], [""], ["3", "d", "e"], None]
    assert cells_of('"" ', "3,d,e") == [[""], ["3", "d", "e"]]


def test_a_spare_cell_may_be_quoted_also_between_damaged_records() -> None:
    header = b'"DOCID"\t"Title"\t\n'
    data = header + b'"\n""\t"\n"\t""'
    whole, pieces = read_file(data), read_file(data, chunk_rows=1, cuts=every(1, data))
    assert whole.cells == pieces.cells == [['\n"\t'], None]


PIECES = st.sampled_from(['"', '""', ",", "\n", "\r\n", "\r", "a", "1", " ", '","', '"\n"', ',"'])


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.booleans(), st.data())
def test_garbage_is_read_alike_whatever_the_blocks_and_chunks(text: str, quoted: bool, data: st.DataObject) -> None:
    raw = (QUOTED_HEADER if quoted else HEADER) + text.encode()
    cuts = data.draw(st.sets(st.integers(0, len(raw)), max_size=10))
    pieces = read_file(raw, chunk_rows=data.draw(st.integers(1, 4)), cuts=cuts)
    whole = pieces.records_at_once()
    assert pieces.records == whole == read_file(raw).records


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
def test_no_character_is_in_two_records_and_only_blank_lines_are_in_none(text: str, quoted: bool) -> None:
    raw = (QUOTED_HEADER if quoted else HEADER) + text.encode()
    reading = read_file(raw)
    at = reading.layout.body_start
    for record in reading.records:
        assert raw[at : record.byte_start].strip(b"\r\n") == b""
        at = record.byte_start + record.byte_len
    assert raw[at:].strip(b"\r\n") == b""


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=3, max_size=3))
def test_whatever_garbage_stands_before_it_a_whole_quoted_record_is_found(cells: list[str]) -> None:
    good = '"77","alpha","omega"'
    data = f"{','.join(cells)}\n{good}\n{good}".encode()
    assert ["77", "alpha", "omega"] in read_file(QUOTED_HEADER + data).cells


LINES = ['1,"b', '1,"""b', 'x",y,"b', '1,"a"b', '"a",,"', '"",""",', '1,"a",b,c\n"', '1,"a\n"', '"1","a"b', '"']
SECONDS = 3


@pytest.mark.parametrize("header", [HEADER, QUOTED_HEADER], ids=["bare", "quoted"])
@pytest.mark.parametrize("line", LINES)
def test_reading_takes_linear_time_whatever_the_text(line: str, header: bytes) -> None:
    data = header + f"{line}\n".encode() * 50_000
    started = time.process_time()
    reading = read_file(data, cuts=every(65_536, data))
    assert sum(record.line_count for record in reading.records) <= 100_000
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("line", ['1,"b', '1,"a",b,c\n"'])
def test_four_times_the_damaged_text_takes_no_more_than_eight_times_as_long(line: str) -> None:
    def seconds(lines: int) -> float:
        data = HEADER + f"{line}\n".encode() * lines
        started = time.process_time()
        read_file(data, cuts=every(16_384, data))
        return time.process_time() - started

    assert seconds(80_000) < max(8 * seconds(20_000), 0.5)


def test_reading_a_part_says_from_where_to_go_on() -> None:
    cursor = LineCursor()
    texts = ["1,a,b\n", '2,"open\n']
    part = list(read_records(Lines(texts, []), GRAMMAR, at_end=False, cursor=cursor))
    assert [record.cells for record in part] == [["1", "a", "b"]]
    assert cursor.consumed == 1
