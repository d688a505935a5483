"""The load files that imports are measured with: the same for the same shape, and of the shape that was asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.imports.load_file import Shape

SHAPE = Shape(rows=300, columns=3, custodians=7, tags=4, text=30)


def cells(shape: Shape) -> list[dict[str, str]]:
    lines = b"".join(shape.pieces()).decode("utf-8-sig").splitlines()
    names, *rows = ([cell.strip("\xfe") for cell in line.split("\x14")] for line in lines)
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_the_same_shape_gives_the_same_bytes(tmp_path: Path) -> None:
    SHAPE.write(tmp_path / "a.dat")
    SHAPE.write(tmp_path / "b.dat")
    assert (tmp_path / "a.dat").read_bytes() == (tmp_path / "b.dat").read_bytes() == b"".join(SHAPE.pieces())
    assert b"".join(replace(SHAPE, seed=2).pieces()) != b"".join(SHAPE.pieces())


def test_every_id_is_distinct_and_begins_as_asked_for_and_every_parent_is_there() -> None:
    # More rows than there are different texts.
    rows = cells(replace(SHAPE, rows=2_500, columns=0, prefix="OTHER"))
    ids, parents = {row["Begin Bates"] for row in rows}, {row["Parent ID"] for row in rows} - {""}
    assert len(ids) == 2_500
    assert all(each.startswith("OTHER-") for each in ids)
    assert parents
    assert parents < ids


@pytest.mark.parametrize(("column", "most"), [("Custodian", 7), ("Tags", 4)])
def test_there_are_as_many_names_as_asked_for(column: str, most: int) -> None:
    named = [row[column].split("; ") for row in cells(SHAPE)]
    assert len(set(itertools.chain.from_iterable(named))) == most
    assert {len(names) for names in named} == {1, 2}


def test_one_name_may_be_on_every_row() -> None:
    rows = cells(Shape(rows=40, custodians=1, tags=1))
    assert len({(row["Custodian"], row["Tags"]) for row in rows}) == 1


def test_there_are_as_many_columns_and_texts_are_as_long_as_asked_for() -> None:
    shorter, longer = cells(replace(SHAPE, columns=0)), cells(replace(SHAPE, columns=20, text=300))
    assert len(longer[0]) - len(shorter[0]) == 20
    assert max(len(row["Title"]) for row in shorter) <= 30 < min(len(row["Title"]) for row in longer) <= 300


def test_memory_does_not_grow_with_the_rows() -> None:
    pieces = Shape(rows=10**9).pieces()
    first = [len(piece) for piece in itertools.islice(pieces, 4)]
    assert max(first) < 1_000_000
