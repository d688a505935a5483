"""A volume's load file, imported into another case, says there of each document what the first case says of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from core.productions.volume import resolve_source_key
from samples.columns import IdStyle, Role
from samples.dates import DateFormat
from samples.generator import Generated, generate
from samples.spec import Spec
from samples.strategies import specs
from samples.words import Alphabet
from shell.aws import clients
from tests.support.productions import objects_of
from tests.support.round_trips import exhibits, expected, found, is_ambiguous, numbers, said
from tests.support.world import World
from tests.support.written import written

_cases = count()
_ENDS = "SELECT status, rows_seen, imported, rejected, warnings FROM imports WHERE id = :id"
SPICED = Spec(rows=12, alphabets=frozenset(Alphabet), embedded_newlines=True, embedded_lf=True, spice=0.7)


def names_of(made: Generated) -> list[str]:
    """The columns that can be asked for beside ours."""
    return [column.header for column in made.truth.columns if column.role is Role.PROPERTY]


def options_of(rows: Any, names: list[str]) -> dict[str, Any]:
    """With what the DAT is to be read, as docs/load-files.md says."""
    return {"newline": "none"} if is_ambiguous(rows, names) else {}


def put_files(world: World, case: str) -> None:
    """The natives and texts that the case's load file names, as whoever uploads them puts them."""
    for row in exhibits(world, case):
        for path in filter(None, (row.native_path, row.text_path)):
            clients.s3().put_object(
                Bucket=world.bucket, Key=resolve_source_key("tenant", case, path), Body=path.encode()
            )


def produced(world: World, case: str, names: list[str], **asked: Any) -> tuple[int, bytes]:
    """A production whose volume was written, and its DAT."""
    put_files(world, case)
    production = written(case, properties=names, **asked)
    return production, objects_of(world, production)["VOL001/DATA/VOL001.dat"]


def assert_comes_back(world: World, spec: Spec) -> tuple[str, list[str]]:
    """Import, produce, and import what was produced; returns the last case and the columns."""
    made = generate(spec)
    first, second = (f"Case {next(_cases)}" for _ in range(2))
    world.run(made.data, case=first, **(made.options or {}))
    before, names = exhibits(world, first), names_of(made)
    production, dat = produced(world, first, names)
    options = options_of(before, names)
    import_id = world.run(dat, case=second, **options)
    rows = len(before)
    assert tuple(world.query(_ENDS, id=import_id)[0]) == ("completed", rows, rows, 0, 0)
    bates = numbers(world, production)
    assert found(exhibits(world, second), names) == expected(before, names, bates, marks=not options)
    return second, names


VARIANTS = [
    replace(SPICED, seed=1, convert_marks=False, encoding="utf-16-le"),
    replace(SPICED, seed=2, id_style=IdStyle.BEGDOC, newline="\n", embedded_lf=False, date_format=DateFormat.ISO),
    replace(
        SPICED, seed=3, rows=20, roles=frozenset({Role.ID, Role.TITLE, Role.CUSTODIAN, Role.PARENT}), padded_ids=True
    ),
]


@pytest.mark.parametrize("spec", VARIANTS, ids=["signs", "begdoc", "few columns"])
def test_what_was_produced_and_imported_again_is_the_same(world: World, spec: Spec) -> None:
    case, names = assert_comes_back(world, spec)
    rows = exhibits(world, case)
    assert len(rows) == spec.rows
    assert any(row.parent_control_number for row in rows)
    assert any("\n" in text for row in rows for text in said(row, names))
    assert bool(options_of(rows, names)) == (spec.convert_marks is False)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(specs(max_rows=12, fault_kinds=(), headers=(True,)))
def test_whatever_was_imported_is_the_same(world: World, spec: Spec) -> None:
    if spec.rows:
        assert_comes_back(world, spec)


def test_a_production_of_a_production_comes_back_too(world: World) -> None:
    case, names = assert_comes_back(world, replace(SPICED, seed=5, rows=6))
    before = exhibits(world, case)
    production, dat = produced(
        world, case, names, prefix="BETA", query=None, exhibitIds=[row.id for row in before[::2]]
    )
    options = options_of(before[::2], names)
    import_id = world.run(dat, case="Last", **options)
    assert world.query(_ENDS, id=import_id)[0].rejected == 0
    bates = numbers(world, production)
    assert len(bates) == len(before[::2])
    assert found(exhibits(world, "Last"), names) == expected(before, names, bates, marks=not options)


def test_by_pages_families_and_ids_come_back(world: World) -> None:
    lines = ["DOCID|PARENTID|Pages|Title", "A||3|one", "A.1|A|5|two", "B||1|three"]
    world.run("\r\n".join(lines).encode() + b"\r\n", case="First")
    _, dat = produced(world, "First", ["Pages"], numbering="page")
    world.run(dat, case="Second")
    rows = {row.control_number: row for row in exhibits(world, "Second")}
    assert list(rows) == ["ACME0000001", "ACME0000004", "ACME0000009"]
    assert [row.parent_control_number for row in rows.values()] == [None, "ACME0000001", None]
    ends = world.query(
        "SELECT bates_end FROM exhibits JOIN cases ON cases.id = case_id WHERE name = 'Second' ORDER BY 1"
    )
    assert [row[0] for row in ends] == ["ACME0000003", "ACME0000008", "ACME0000009"]
