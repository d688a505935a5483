"""Second Bates numbers: what overlays and second columns claim, what a key finds, and what an undo leaves."""

from __future__ import annotations

import re
from typing import Any

import pytest

import start_import
from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitChange
from core.contracts.imports.checks import RunRequest
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.listing import list_exhibits
from shell.exhibits.queries import get_exhibit
from shell.imports.steps import run_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import committed, run_chunks
from tests.support.application.driver import World, call, request_messages
from tests.support.database.application_user import administrator_engine
from tests.support.imports.image_load_files import opt, page_counts, results
from tests.support.undo.runs import CALLER, undo

FIRST = b"Control Number,Begin Bates,End Bates,Title\r\nA-1,SM001,SM003,one\r\nA-2,SM004,SM004,two\r\n"
SECOND = b"Control Number,Begin Bates,End Bates\r\nA-1,DOE0101,DOE0103\r\nA-2,DOE0104,DOE0104\r\n"
_CLAIMS = """
    SELECT e.control_number, n.import_id, n.production_id, n.seq, n.line_no, n.bates_begin, n.bates_end, n.label
    FROM production_numbers AS n JOIN exhibits AS e ON e.id = n.exhibit_id ORDER BY 1, 2, 3, 4
"""


def claims(world: World) -> list[tuple[Any, ...]]:
    """All claims of the database: control number, import, production, seq, line, begin, end, label."""
    return [tuple(row) for row in world.query(_CLAIMS)]


def found(number: str, last: str | None = None) -> list[str]:
    """The control numbers of the documents with a number, or one up to another."""
    bounds = {"batesFrom": number, "batesTo": last or number}
    page = list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", **bounds}))
    return [each.control_number for each in page.items]


def warned(world: World, import_id: int) -> list[tuple[int, str]]:
    """The lines and messages of the warnings about replaced ranges."""
    rows = world.query(
        "SELECT line_no, message FROM import_warnings WHERE import_id = :i AND code = 'BATES_CHANGED' ORDER BY 1",
        i=import_id,
    )
    return [tuple(row) for row in rows]


def own(world: World) -> dict[str, tuple[str | None, str | None]]:
    """The ranges of the documents' fields."""
    rows = world.query("SELECT control_number, bates_begin, bates_end FROM exhibits")
    return {row[0]: (row[1], row[2]) for row in rows}


def test_a_first_import_claims_nothing(world: World) -> None:
    world.run(FIRST)
    assert claims(world) == []
    assert found("SM002") == ["A-1"]


def test_an_overlay_warns_and_adds_a_range(world: World) -> None:
    first = world.run(FIRST)
    second = world.run(SECOND, mode="overlay")
    assert claims(world) == [
        ("A-1", first, 0, -1, 2, "SM001", "SM003", None),
        ("A-1", second, 0, 0, 2, "DOE0101", "DOE0103", None),
        ("A-2", first, 0, -1, 3, "SM004", "SM004", None),
        ("A-2", second, 0, 0, 3, "DOE0104", "DOE0104", None),
    ]
    assert own(world)["A-1"] == ("DOE0101", "DOE0103")
    [(line, message), _] = warned(world, second)
    assert line == 2
    assert message.startswith("The document had SM001 to SM003 and has DOE0101 to DOE0103 now. The earlier range stays")
    assert found("SM002") == found("DOE0102") == ["A-1"]
    assert found("SM003", "SM9") == ["A-1", "A-2"]
    undo(world, second)
    assert own(world)["A-1"] == ("SM001", "SM003")
    assert found("DOE0102") == []
    assert found("SM002") == ["A-1"]


def test_a_number_in_a_formula_is_claimed_as_the_fields_have_it(world: World) -> None:
    world.run(FIRST)
    second = world.run(re.sub(rb"(?<=,)DOE\d+", rb'"=""\g<0>"""', SECOND), mode="overlay")
    assert own(world)["A-1"] == ("DOE0101", "DOE0103")
    assert ("A-1", second, 0, 0, 2, "DOE0101", "DOE0103", None) in claims(world)
    third = world.run(b"Begin Bates,Title\r\nDOE0101,uno\r\n", mode="overlay", overlay_key="bates_begin")
    assert results(world, third) == ("completed", 1, 0, 1, 0, 0)


def test_a_number_stays_while_another_import_claims_it(world: World) -> None:
    world.run(FIRST)
    second, third = (world.run(SECOND, mode="overlay") for _ in range(2))
    # The third one found the documents unchanged: the fields are restored, and its claim stays.
    undo(world, second)
    assert own(world)["A-1"] == ("SM001", "SM003")
    assert found("DOE0102") == found("SM002") == ["A-1"]
    undo(world, third)
    assert found("DOE0102") == []
    assert found("SM002") == ["A-1"]


def test_images_find_documents_by_any_of_their_numbers(world: World) -> None:
    world.run(FIRST)
    world.run(SECOND, mode="overlay")
    images = world.run(opt(("SM001", 3), ("SM004", 1)), name="images.opt")
    assert results(world, images) == ("completed", 2, 2, 0, 0, 0)
    assert page_counts(world) == {"A-1": 3, "A-2": 1}


def test_a_file_that_names_a_document_by_two_numbers_gives_it_the_pages_of_the_first(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(1)
    world.run(FIRST)
    world.run(SECOND, mode="overlay")
    images = world.run(opt(("SM004", 1), ("DOE0101", 2), ("SM001", 3)), name="images.opt")
    assert results(world, images) == ("completed_with_rejections", 3, 2, 0, 0, 1)
    assert page_counts(world) == {"A-1": 2, "A-2": 1}
    codes = "SELECT line_no, code FROM import_rejections WHERE import_id = :i"
    assert [tuple(row) for row in world.query(codes, i=images)] == [(4, "OPT_DUPLICATE_KEY")]


def test_a_number_of_several_documents_is_ambiguous(world: World) -> None:
    world.run(FIRST)
    world.run(b"Control Number,Begin Bates\r\nA-1,SM004\r\n", mode="overlay")
    images = world.run(opt(("SM004", 1), ("SM001", 1)), name="images.opt")
    assert results(world, images) == ("completed_with_rejections", 2, 1, 0, 0, 1)
    codes = "SELECT line_no, code FROM import_rejections WHERE import_id = :i"
    assert [tuple(row) for row in world.query(codes, i=images)] == [(1, "AMBIGUOUS_KEY")]
    overlay = world.run(b"Begin Bates,Title\r\nSM004,new\r\nSM001,other\r\n", mode="overlay", overlay_key="bates_begin")
    assert [tuple(row) for row in world.query(codes, i=overlay)] == [(2, "AMBIGUOUS_KEY")]
    assert world.query("SELECT title FROM exhibits ORDER BY control_number") == [("other",), ("two",)]


def test_a_key_that_is_another_number_leaves_the_range_of_the_fields(world: World) -> None:
    world.run(FIRST)
    world.run(SECOND, mode="overlay")
    data = b"Begin Bates,End Bates,Title\r\nSM001,SM003,uno\r\nDOE0104,DOE0104,due\r\nDOE0101,DOE0103,again\r\n"
    overlay = world.run(data, mode="overlay", overlay_key="bates_begin")
    assert own(world) == {"A-1": ("DOE0101", "DOE0103"), "A-2": ("DOE0104", "DOE0104")}
    assert world.query("SELECT title FROM exhibits ORDER BY control_number") == [("uno",), ("due",)]
    codes = "SELECT line_no, code FROM import_rejections WHERE import_id = :i"
    assert [tuple(row) for row in world.query(codes, i=overlay)] == [(4, "DUPLICATE_ID")]
    assert warned(world, overlay) == []


def test_a_number_inside_of_a_range_names_no_document(world: World) -> None:
    world.run(FIRST)
    world.run(SECOND, mode="overlay")
    images = world.run(opt(("SM001", 1), ("SM002", 1)), name="images.opt")
    assert results(world, images) == ("completed_with_rejections", 2, 1, 0, 0, 1)
    codes = "SELECT line_no, code FROM import_rejections WHERE import_id = :i"
    assert [tuple(row) for row in world.query(codes, i=images)] == [(2, "OPT_DOC_NOT_FOUND")]


TWO = (
    b"DOCID,BEGBATES,ENDBATES,PRODBEG,PRODEND,Prod Volume\r\n"
    b"A-1,SM001,SM003,DOE0101,DOE0103,DOE-VOL2\r\nA-2,SM004,SM004,,,\r\nA-3,SM005,SM006,SM005,SM006,\r\n"
)


@pytest.mark.parametrize("mode", ["append", "append_overlay"])
def test_a_second_pair_of_columns_is_a_claim_and_stays_a_property(world: World, mode: str) -> None:
    first = world.run(TWO, mode=mode)
    assert claims(world) == [("A-1", first, 0, 1, 2, "DOE0101", "DOE0103", "DOE-VOL2")]
    assert found("DOE102") == ["A-1"]
    [(exhibit_id,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    exhibit = get_exhibit(CALLER, exhibit_id)
    assert exhibit.properties["PRODBEG"] == "DOE0101"
    [number] = exhibit.production_numbers
    assert (number.bates_begin, number.label, number.import_id, number.line) == ("DOE0101", "DOE-VOL2", first, 2)
    again = world.run(TWO)
    assert results(world, again) == ("completed", 3, 0, 0, 3, 0)
    assert len(claims(world)) == 2
    undo(world, again)
    assert len(claims(world)) == 1
    undo(world, first)
    assert world.query("SELECT COUNT(*) FROM production_numbers") == [(0,)]


def test_a_range_that_a_user_set_stays_when_an_overlay_replaces_it(world: World) -> None:
    first = world.run(FIRST)
    [(exhibit_id,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    body = ExhibitChange.model_validate({"batesBegin": "US001", "batesEnd": None})
    committed(patch_exhibit, CALLER, exhibit_id, frozenset({1}), body)
    assert claims(world) == [], "a correction is not a delivery"
    second = world.run(SECOND, mode="overlay")
    assert claims(world)[:2] == [
        ("A-1", 0, 0, -2, 0, "US001", None, None),
        ("A-1", second, 0, 0, 2, "DOE0101", "DOE0103", None),
    ]
    undo(world, second)
    assert own(world)["A-1"] == ("US001", None)
    third = world.run(SECOND, mode="overlay")
    undo(world, third)
    assert {row[1] for row in claims(world)} == {0, first}


def test_what_an_earlier_version_overlaid_is_its_own_claim(world: World) -> None:
    world.run(FIRST)
    second = world.run(SECOND, mode="overlay")
    # As if the second import had run before there were claims.
    with administrator_engine().begin() as connection:
        connection.exec_driver_sql("DELETE FROM production_numbers")
    third = world.run(SECOND.replace(b"DOE", b"ROE"), mode="overlay")
    assert [row[1] for row in claims(world)] == [second, third, second, third]
    undo(world, second)
    assert found("DOE0102") == []


def test_each_range_that_an_end_made_stays_as_a_claim_of_its_own(world: World) -> None:
    """Overlays of a range, of its end alone, and of another range: each source has the range that it made."""
    world.run(FIRST)
    second = world.run(SECOND, mode="overlay")
    third = world.run(b"Control Number,End Bates\r\nA-1,DOE0109\r\n", mode="overlay")
    fourth = world.run(b"Control Number,Begin Bates,End Bates\r\nA-1,ZED01,ZED03\r\n", mode="overlay")
    assert "had DOE0101 to DOE0109" in warned(world, fourth)[0][1]
    assert found("DOE0105") == found("DOE0102") == found("SM002") == ["A-1"]
    assert ("A-1", third, 0, -3, 2, "DOE0101", "DOE0109", None) in claims(world)
    undo(world, third)
    assert (found("DOE0105"), found("DOE0102")) == ([], ["A-1"])
    undo(world, second)
    assert found("DOE0102") == []


def test_ranges_that_one_source_gave_parts_of_are_all_kept(world: World) -> None:
    world.run(FIRST)
    [(exhibit_id,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    second = world.run(b"Control Number,Begin Bates\r\nA-1,SM000\r\n", mode="overlay")
    body = ExhibitChange.model_validate({"batesEnd": "SM009"})
    committed(patch_exhibit, CALLER, exhibit_id, frozenset({2}), body)
    undo(world, world.run(SECOND, mode="overlay"))
    undo(world, second)
    assert own(world)["A-1"] == ("SM001", "SM009")
    world.run(SECOND, mode="overlay")
    assert {row[5:7] for row in claims(world) if row[:2] == ("A-1", 0)} == {("SM000", "SM009"), ("SM001", "SM009")}
    assert found("SM008") == ["A-1"]


def test_a_check_says_what_the_import_says(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    world.run(FIRST + b"A-3,SM005,SM006,three\r\n")
    data = SECOND + b"A-3,SM006,SM007\r\n"
    checked = world.run(data, mode="overlay", dry_run=True)
    assert found("DOE0102") == []
    assert claims(world) == []
    findings = "SELECT line_no, code FROM import_check_findings WHERE import_id = :i ORDER BY 1"
    assert [tuple(row) for row in world.query(findings, i=checked)] == [(n, "BATES_CHANGED") for n in (2, 3, 4)]
    committed(run_import, CALLER, checked, RunRequest.model_validate({"acknowledgeWarnings": True}))
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    run_chunks(world)
    assert [line for line, _ in warned(world, checked)] == [2, 3, 4]
    differs = "SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'"
    assert world.query(differs) == [(0,)]


def test_a_check_sees_every_claim_of_the_case(world: World) -> None:
    world.run(FIRST)
    world.run(SECOND, mode="overlay")
    data = b"Control Number,Begin Bates,End Bates\r\nB-1,SM002,SM002\r\nB-2,DOE0103,DOE0103\r\nB-3,SM009,SM009\r\n"
    checked = world.run(data, dry_run=True)
    findings = "SELECT line_no, code FROM import_check_findings WHERE import_id = :i AND code LIKE '%CASE' ORDER BY 1"
    assert [tuple(row) for row in world.query(findings, i=checked)] == [
        (2, "BATES_OVERLAP_CASE"),
        (3, "BATES_OVERLAP_CASE"),
    ]


def test_a_document_that_an_undo_keeps_has_its_numbers(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    first = world.run(TWO.replace(b"A-2,SM004,SM004,,,", b"A-2,SM004,SM004,DOE0104,,"))
    before = claims(world)
    undo(world, first, dry_run=True)
    assert claims(world) == before
    [(exhibit_id,)] = world.query("SELECT id FROM exhibits WHERE control_number = 'A-1'")
    committed(patch_exhibit, CALLER, exhibit_id, frozenset({1}), ExhibitChange.model_validate({"title": "edited"}))
    undo(world, first)
    assert claims(world) == before[:1]
