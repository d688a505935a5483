"""Rejected rows that are imported again keep the lines of the first file, and come in as that file would have them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import import_chunk
from core.load_file import rows as core_rows
from core.load_file.splitter import Splitter
from samples.dialects import COMMA, CONCORDANCE, TAB, Quoting
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from shell.imports import results
from shell.imports.chunks import row_reader
from shell.imports.completing import error_file
from shell.imports.splitting import split
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER
from tests.integration.imports.test_reports import table
from tests.support.application.driver import World, call
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.row_outcomes import accounts

SPEC = Spec(
    rows=30,
    embedded_newlines=True,
    faults=(
        *(Fault(FaultKind.MISSING_ID, 3), Fault(FaultKind.DUPLICATE_ID, 7, of=2), Fault(FaultKind.FEWER_CELLS, 9)),
        *(Fault(FaultKind.MORE_CELLS, 12), Fault(FaultKind.UNCLOSED_QUOTE, 15), Fault(FaultKind.LONG_ID, 18)),
        Fault(FaultKind.BAD_BYTE, 20),
    ),
)
SPECS = {
    "comma": replace(SPEC, dialect=COMMA, quoting=Quoting.MINIMAL, encoding="utf-8"),
    "concordance": replace(SPEC, dialect=CONCORDANCE, final_newline=False),
    "cp1252": replace(SPEC, dialect=CONCORDANCE, encoding="cp1252"),
    "utf-16": replace(SPEC, dialect=TAB, encoding="utf-16-le"),
    "cr": replace(SPEC, dialect=COMMA, newline="\r"),
    "spare": replace(SPEC, dialect=CONCORDANCE, trailing_delimiter=True),
    "spare comma": replace(SPEC, dialect=COMMA, quoting=Quoting.MINIMAL, trailing_delimiter=True),
}


def reasons(world: World, import_id: int, column: str) -> list[tuple[str, str]]:
    """The lines in a column of report.csv, each with its code."""
    return [(row[column], row["code"]) for row in table(world.report(import_id)["report.csv"])]


def returned(world: World, import_id: int) -> dict[str, Any]:
    """The error file of an import and its options, as they are imported again."""
    report = world.report(import_id)
    return {"data": report["rejected_rows.dat"], **json.loads(report["options.json"])}


def reload(world: World, import_id: int, case: str = "Case") -> int:
    """Import the error file of an import, with its options."""
    return world.run(case=case, **returned(world, import_id))


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_reports_of_uncorrected_rows_have_the_lines_of_the_first_file(
    world: World, chunk_rows: Chunks, spec: Spec
) -> None:
    chunk_rows(4)
    made = generate(spec)
    first = world.run(made.data, shuffle=1)
    assert_accounted(world, first, made.truth)
    # A byte that could not be decoded is U+FFFD in the error file, with which the row comes in.
    expected = [
        (str(record.first_line), "EXISTS_WITH_OTHER_VALUES" if record.codes == {"DUPLICATE_ID"} else code)
        for record in made.truth.rejected
        for code in record.codes
        if code != "UNDECODABLE_BYTES"
    ]
    assert len(expected) == len(SPEC.faults) - 1
    assert {line for line, _ in reasons(world, first, "original_line")} == {""}
    second = reload(world, first)
    assert reasons(world, second, "original_line") == expected
    assert reasons(world, second, "line") != expected
    third = reload(world, second)
    assert reasons(world, third, "original_line") == expected
    assert world.report(third)["rejected_rows.dat"] == world.report(second)["rejected_rows.dat"]
    listed = [row.original_line for row in results.list_rejections(CALLER, third, 100, None).items]
    assert listed == [int(line) for line, _ in expected]
    assert {row.original_line for row in results.list_rejections(CALLER, first, 100, None).items} == {None}


VALUES = (
    "control_number, bates_begin, bates_end, parent_control_number, title, file_name, native_path, text_path, "
    "document_date, document_properties, row_hash, line_count"
)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_rows_of_an_error_file_come_in_with_the_values_and_the_hash_of_the_source(
    world: World, chunk_rows: Chunks, spec: Spec
) -> None:
    """Of a file that failed in every attempt, nothing is wrong with the rows."""
    chunk_rows(7)
    made = generate(replace(spec, faults=(), blank_lines=True))
    options = made.options or {}
    failed = world.start(made.data, case="Reloaded", **options)
    for message in world.chunk_messages():
        world.give_up(message)
    reloaded = reload(world, failed, "Reloaded")
    again = world.run(made.data, case="Reloaded", **options)
    assert accounts(world, reloaded).counts["imported"] == accounts(world, again).counts["unchanged"] == spec.rows
    source = world.run(made.data, case="Source", **options)
    statement = f"SELECT {VALUES} FROM exhibits WHERE import_id = :id ORDER BY control_number"
    assert world.query(statement, id=reloaded) == world.query(statement, id=source)
    for links in ("custodian_exhibits", "taggings"):
        assert world.dump(reloaded)[links] == world.dump(source)[links]


def test_each_row_of_a_failed_chunk_has_its_own_line(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    first = world.start(b'DOCID,Title\n\n,"a\nb"\n\n,c\n1,d\n')
    message, last = world.chunk_messages()
    world.give_up(message)
    assert call(import_chunk.lambda_handler, last)
    assert reasons(world, first, "line") == [("2", "CHUNK_FAILED")]
    second = reload(world, first)
    assert reasons(world, second, "original_line") == [("3", "MISSING_ID"), ("6", "MISSING_ID")]
    third = world.start(**returned(world, second))
    for message in world.chunk_messages():
        world.give_up(message)
    assert reasons(world, third, "original_line") == [("", "CHUNK_FAILED")]
    fourth = reload(world, third)
    assert reasons(world, fourth, "original_line") == [("3", "MISSING_ID"), ("6", "MISSING_ID")]


@pytest.mark.parametrize("spare", ["", ","])
def test_a_record_that_is_too_large_to_be_read_keeps_its_line(
    world: World, monkeypatch: pytest.MonkeyPatch, spare: str
) -> None:
    monkeypatch.setattr(split, "Splitter", partial(Splitter, max_record_bytes=5_000, max_chunk_bytes=1_000))
    for module in (row_reader, core_rows, error_file):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 5_000)
    monkeypatch.setattr(error_file, "COPY_BYTES", 700)
    header, rows = f"DOCID,Title{spare}", [f"1,a{spare}", f"2,{'x' * 9_001}{spare}", f"3,{'é' * 4_000}{spare}", "4"]
    first = world.run("\r\n".join([header, *rows]).encode())
    codes = ["RECORD_TOO_LARGE", "RECORD_TOO_LARGE", "WRONG_CELL_COUNT"]
    assert reasons(world, first, "line") == list(zip("345", codes, strict=True))
    second = reload(world, first)
    third = reload(world, second)
    for import_id in (second, third):
        assert reasons(world, import_id, "original_line") == list(zip("345", codes, strict=True))


def test_the_error_file_of_a_file_without_a_header_has_no_lines(world: World) -> None:
    first = world.run(b"1,a\n,b\n", header=False, columns={"1": "control_number"})
    assert world.report(first)["rejected_rows.dat"] == b"\xef\xbb\xbf,b\n"
    second = reload(world, first)
    assert reasons(world, second, "original_line") == [("", "MISSING_ID")]
