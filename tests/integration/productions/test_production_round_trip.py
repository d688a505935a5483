"""A volume's load file, imported into another case, says there of each document what the first case says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from shell.utils.document_properties import parse_properties
from tests.support.application.driver import World
from tests.support.productions.runs import objects_of
from tests.support.productions.written_volumes import written

_cases = count()
_ENDS = "SELECT status, rows_seen, imported, rejected, warnings FROM imports WHERE id = :id"
SPICED = Spec(rows=12, alphabets=frozenset(Alphabet), embedded_newlines=True, embedded_lf=True, spice=0.7)
_EXHIBITS = """
    SELECT exhibit.id, control_number, title, file_name, document_date, native_path, text_path, parent_control_number,
    document_properties, (
      SELECT GROUP_CONCAT(custodians.name ORDER BY custodians.name SEPARATOR '|') FROM custodian_exhibits
      JOIN custodians ON custodians.id = custodian_id WHERE exhibit_id = exhibit.id
    ) AS custodians, (SELECT COUNT(*) FROM taggings WHERE exhibit_id = exhibit.id) AS tags
    FROM exhibits AS exhibit JOIN cases ON cases.id = exhibit.case_id WHERE cases.name = :case ORDER BY control_number
"""
_NUMBERS = """
    SELECT document.control_number, CONCAT(prefix, LPAD(document.first_number, digits, '0')) AS bates
    FROM production_documents AS document JOIN exhibits ON exhibits.id = exhibit_id
    JOIN productions ON productions.id = production_id WHERE production_id = :p
"""
_BREAK = re.compile("\r\n|\r")
Document = tuple[str, str, tuple[str, ...], Any, str, int]


def exhibits(world: World, case: str) -> Sequence[Any]:
    """The case's exhibits."""
    world.query("SET SESSION group_concat_max_len = 1000000")
    return world.query(_EXHIBITS, case=case)


def numbers(world: World, production: int) -> dict[str, str]:
    """The first Bates number of each document, by its control number."""
    return {row.control_number: row.bates for row in world.query(_NUMBERS, p=production)}


def said(row: Any, names: Sequence[str]) -> list[str]:
    """All texts of an exhibit that are handed over."""
    properties = parse_properties(row.document_properties) if row.document_properties else {}
    return [row.title or "", row.file_name or "", *(properties.get(name) or "" for name in names)]


def described(row: Any, names: Sequence[str]) -> Document:
    """What a case says of a document: its id and its parent's, and all else; blanks for what is not said."""
    of_its_own = (row.document_date, row.custodians or "", row.tags)
    return row.control_number, row.parent_control_number or "", tuple(said(row, names)), *of_its_own


def expected(rows: Sequence[Any], names: Sequence[str], bates: Mapping[str, str], marks: bool) -> list[Document]:
    """What another case must say of the exhibits that were produced; with `marks` line breaks are LF there."""
    found = []
    for number, parent, texts, date, custodians, _tags in (described(row, names) for row in rows):
        read = tuple(_BREAK.sub("\n", text) if marks else text for text in texts)
        found.append((bates[number], bates.get(parent, ""), read, date, custodians, 0))
    return sorted(found)


def names_of(made: Generated) -> list[str]:
    """The columns that can be requested beside ours."""
    return [column.header for column in made.truth.columns if column.role is Role.PROPERTY]


def options_of(rows: Any, names: list[str]) -> dict[str, Any]:
    """With what the DAT is to be read, as docs/load-files.md says: a cell may hold the sign for a line break."""
    texts = (text for row in rows for text in (*said(row, names), row.custodians or ""))
    return {"newline": "none"} if any("®" in text for text in texts) else {}


def put_files(world: World, case: str) -> None:
    """The natives and texts that the case's load file names, as a client uploads them."""
    for row in exhibits(world, case):
        for path in filter(None, (row.native_path, row.text_path)):
            clients.s3().put_object(
                Bucket=world.bucket, Key=resolve_source_key("tenant", case, path), Body=path.encode()
            )


def produced(world: World, case: str, names: list[str], **fields: Any) -> tuple[int, bytes]:
    """A production whose volume was written, and its DAT."""
    put_files(world, case)
    production = written(case, properties=names, **fields)
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
    found = sorted(described(row, names) for row in exhibits(world, second))
    assert found == expected(before, names, bates, marks=not options)
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
