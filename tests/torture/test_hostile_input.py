"""Input that harms a careless reader comes out as any other: kept as it is, or back with a reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.rows import parse_row
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.torture.hostile import KINDS, MEGABYTE, MEMORY, REFUSED, Kind, Went, blocks, split, without_a_line_end, wrong
from tests.torture.mutations.hostile_values import ALIKE, BEYOND, FIELDS, VALUES, table
from tests.torture.mutations.imports import accounted, deliver
from tests.torture.mutations.limits import bounded
from tests.unit.core.file_reading import read_file

SIZE = 20 * MEGABYTE
# Of those in many lines one is quick.
SLOW = {kind.name for kind in KINDS if kind.memory > MEMORY} | {"prose that a stray quote opens and nothing closes"}


def run(world: World, data: bytes, **options: Any) -> tuple[int, dict[str, int]]:
    """Import a file; its id and counts, when every record and cell of it is accounted for."""
    import_id = deliver(world, data, options, "Hostile", Random(1))
    done = accounted(world, import_id, data)
    assert done.failed is None, done.failed
    return import_id, dict(done.counts or {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=[pytest.mark.slow] * (each.name in SLOW), id=each.name) for each in KINDS]
)
def test_a_record_that_does_not_end_costs_itself_and_not_its_neighbours(kind: Kind) -> None:
    went = split(kind, SIZE)
    assert (went.rows, went.ids) == (kind.rows, kind.ids)


def test_a_lost_neighbour_and_too_much_memory_are_found_out() -> None:
    """The negative control: a reader that takes whatever stands between two line ends for a record."""
    kind = next(kind for kind in KINDS if kind.name == "a cell of words over many lines")
    lines = sum(block.count(b"\n") for block in blocks(kind, SIZE)) - 1
    naive = Went(lines, kind.ids, 0, 1.0)
    assert wrong(kind, naive) == f"{lines} rows and the ids {kind.ids}, not 4 and {kind.ids}"
    assert wrong(kind, Went(kind.rows, kind.ids, MEMORY + 1, 1.0)) == f"{MEMORY + 1:,} bytes of memory"
    assert wrong(kind, Went(kind.rows, kind.ids, MEMORY, 1.0)) == ""


def test_a_file_without_a_line_end_is_refused_once_its_beginning_is_there() -> None:
    with bounded(5):
        assert without_a_line_end(1_000 * MEGABYTE) == REFUSED


@pytest.mark.parametrize("filling", [",", ',"a"', ',"', "\t", "|x"])
def test_a_row_of_a_hundred_thousand_cells_costs_itself(filling: str) -> None:
    data = f"Control Number,Title,Note\n1,a,b\n2,c{filling * 100_000}\n3,d,e\n".encode()
    with bounded(5):
        made = read_file(data, chunk_rows=1)
        rows = [parse_row(record, made.layout) for record in made.records]
    assert [row.control_number for row in rows if not row.errors] == ["1", "3"]
    assert [row.source.line_no for row in rows] == [2, 3, 4]


def test_ten_thousand_columns_are_imported(world: World) -> None:
    names = ["Control Number", *(f"Column no {number}" for number in range(9_999))]
    cells = [["A-1", *([""] * 9_998), "last"], ["A-2", "first", *([""] * 9_998)], ["A-3"] * 3]
    import_id, counts = run(world, table([names, *cells]))
    assert (counts["imported"], counts["rejected"]) == (2, 1)
    stored = [properties(world, import_id, number) for number in ("A-1", "A-2")]
    assert stored == [{"Column no 9998": "last"}, {"Column no 0": "first"}]


@pytest.mark.slow
def test_a_million_values_in_a_cell_cost_its_row(world: World) -> None:
    many = ";".join(map(str, range(1_000_000)))
    rows = [["A-1", "x", "x"], ["A-2", many, ""], ["A-3", "", ";" * 1_000_000], ["A-4", "y", "y"]]
    # Alone in its process it takes 39 MB: the values are counted, not split.
    with bounded(20, memory_bytes=100_000_000):
        _, counts = run(world, table([["Control Number", "Custodian", "Tags"], *rows]))
    assert (counts["imported"], counts["rejected"]) == (2, 2)
    found = world.query("SELECT line_no, column_name, code, message FROM import_rejections ORDER BY line_no")
    assert [tuple(row[:2]) for row in found] == [(3, "Custodian"), (4, "Tags")]
    assert {row.code for row in found} == {"TOO_MANY_VALUES"}
    assert "1000000 values" in found[0].message


def properties(world: World, import_id: int, number: str) -> dict[str, str | None]:
    """What else an exhibit's row said, as it is stored."""
    rows = world.query(
        "SELECT document_properties FROM exhibits WHERE import_id = :id AND control_number = :number",
        id=import_id,
        number=number,
    )
    return dict(json.loads(rows[0][0]))


def has_control(text: str) -> bool:
    """Whether a key with this text is rejected."""
    return re.search("[\x00-\x1f\x7f-\x9f]", text.strip(ASCII_WHITESPACE)) is not None


def test_whatever_stands_in_a_cell_is_kept(world: World) -> None:
    """`accounted` rebuilds every cell of every row; some cells are keys."""
    rows = [[f"ID-{number}", *[value] * (len(FIELDS) - 1)] for number, value in enumerate(VALUES)]
    import_id, counts = run(world, table([FIELDS, *rows]))
    rejected = sum(map(has_control, VALUES))
    assert (counts["imported"], counts["rejected"]) == (len(VALUES) - rejected, rejected)
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 1
    linked = (
        "SELECT COUNT(*) FROM exhibits e JOIN custodian_exhibits l ON l.exhibit_id = e.id "
        "JOIN custodians c ON c.id = l.custodian_id "
        "WHERE e.import_id = :id AND e.control_number = :number AND c.name = :name"
    )
    for number, value in enumerate(VALUES):
        name = value.strip(ASCII_WHITESPACE)
        if name and ";" not in name and not has_control(value):
            assert world.query(linked, id=import_id, number=f"ID-{number}", name=name)[0][0] == 1, repr(value)


def test_whatever_an_id_is_it_is_the_id(world: World) -> None:
    import_id, counts = run(world, table([["Control Number", "Title"], *([value, value] for value in VALUES)]))
    ids = Counter(value.strip(ASCII_WHITESPACE) for value in VALUES if not has_control(value))
    assert counts["rejected"] == len(VALUES) - len(ids)
    stored = world.query("SELECT control_number FROM exhibits WHERE import_id = :id", id=import_id)
    assert Counter(row[0] for row in stored) == Counter(ids.keys())


def test_a_key_that_the_column_cannot_hold_comes_back(world: World) -> None:
    columns = ("Control Number", "Begin Bates", "Parent ID", "Custodian", "Tags")
    keys = [{"Control Number": f"ID-{number}", **dict([key])} for number, key in enumerate(product(columns, BEYOND))]
    _, counts = run(world, table([FIELDS, *([row.get(field, "") for field in FIELDS] for row in keys)]))
    assert (counts["imported"], counts["rejected"]) == (0, len(keys))
    found = world.query("SELECT column_name, code FROM import_rejections ORDER BY line_no")
    assert [tuple(row) for row in found] == [(column, "KEY_NOT_STORABLE") for column, _ in product(columns, BEYOND)]


def test_whatever_a_column_is_called_its_cells_are_kept_under_that_name(world: World) -> None:
    names, expected, seen = ["Control Number", *VALUES], dict[str, str](), Counter[str]()
    for place, value in enumerate(VALUES, start=2):
        base = value.strip() or f"Column {place}"
        seen[base] += 1
        expected[base if seen[base] == 1 else f"{base} ({seen[base]})"] = f"v{place}"
    data = table([names, ["A-1", *(f"v{place}" for place in range(2, len(names) + 1))]])
    import_id, counts = run(world, data, delimiter="comma", qualifier="quote")
    assert (counts["imported"], counts["rejected"]) == (1, 0)
    assert properties(world, import_id, "A-1") == expected
    exhibit = world.query("SELECT id FROM exhibits")[0][0]
    assert Client("tenant").get(f"/exhibits/{exhibit}").json["properties"] == expected


def equal_to_the_database(world: World, kind: str, one: str, other: str) -> bool:
    """Whether the column of names holds the two equal."""
    charset, collation = world.query(
        "SELECT CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLUMNS "
        "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = :kind AND COLUMN_NAME = 'name'",
        kind=kind,
    )[0]
    compared = (
        f"CONVERT(:one USING {charset}) COLLATE {collation} = CONVERT(:other USING {charset}) COLLATE {collation}"
    )
    return bool(world.query(f"SELECT {compared}", one=one, other=other)[0][0])


def test_ids_that_nearly_look_alike_are_different_and_names_are_what_the_database_says(world: World) -> None:
    pairs = [pair for pair in ALIKE if not any(map(has_control, pair))]
    rows = [
        [f"I{number} {name}.", f"C{number} {name}.", f"T{number} {name}."]
        for number, pair in enumerate(pairs)
        for name in pair
    ]
    import_id, counts = run(world, table([["Control Number", "Custodian", "Tags"], *rows]))
    assert (counts["imported"], counts["rejected"]) == (2 * len(pairs), 0)
    merged = world.query(
        "SELECT line_no, column_name FROM import_warnings WHERE import_id = :id AND code = 'NAME_MERGED'", id=import_id
    )
    expected = set()
    for number, (one, other) in enumerate(pairs):
        for kind, column, letter in (("custodians", "Custodian", "C"), ("tags", "Tags", "T")):
            if equal_to_the_database(world, kind, f"{letter}{number} {one}.", f"{letter}{number} {other}."):
                expected.add((2 * number + 3, column))
    assert {tuple(row) for row in merged} == expected
    assert 0 < len(expected) < 4 * len(pairs)
    for kind, column in (("custodians", "Custodian"), ("tags", "Tags")):
        names = 2 * len(pairs) - sum(each == column for _, each in expected)
        assert world.query(f"SELECT COUNT(*) FROM {kind}")[0][0] == names
