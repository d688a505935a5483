"""Overlays change what their columns say, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from core.contracts.imports.checks import RunRequest
from shell.imports.queries import get_import
from shell.imports.steps import run_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, announce, committed, finish, put, run_chunks, start, state
from tests.support.application.driver import World

HEADER = "Control Number,Title,Bates Begin,Custodian,Tags,Date Sent,Author\r\n"
FIRST = HEADER + "A-1,one,N-1,Smith,hot,2001-01-31,Ann\r\nA-2,two,N-2,Jones,,2001-02-01,\r\nA-3,three,N-2,,,,\r\n"
_EXHIBITS = """
    SELECT control_number, title, bates_begin, CAST(date_sent AS CHAR), document_properties, row_hash IS NULL, version,
      import_id, line_no
    FROM exhibits ORDER BY control_number
"""
_LINKS = """
    SELECT e.control_number, c.name FROM exhibits AS e JOIN custodian_exhibits AS l ON l.exhibit_id = e.id
    JOIN custodians AS c ON c.id = l.custodian_id
    UNION ALL
    SELECT e.control_number, t.name FROM exhibits AS e JOIN taggings AS l ON l.exhibit_id = e.id
    JOIN tags AS t ON t.id = l.tag_id ORDER BY 1, 2
"""


def loaded(world: World, data: str, **options: Any) -> int:
    """Import a file to its end."""
    pending = announce(options=options)
    assert start(put(pending, data.encode()))
    run_chunks(world)
    return pending.id


def counts(world: World, import_id: int) -> tuple[int, ...]:
    """Rows seen, imported, updated, unchanged, rejected."""
    columns = "rows_seen, imported, updated, unchanged, rejected"
    return tuple(world.query(f"SELECT {columns} FROM imports WHERE id = :id", id=import_id)[0])


def links(world: World) -> set[tuple[str, str]]:
    """Custodians and tags by control number."""
    return {(number, name) for number, name in world.query(_LINKS)}


def exhibits(world: World) -> dict[str, dict[str, Any]]:
    """The values of all exhibits, by control number; properties are parsed."""
    names = ("title", "bates_begin", "date_sent", "properties", "edited", "version")
    rows = (dict(zip(names, row[1:7], strict=True)) | {"number": row[0]} for row in world.query(_EXHIBITS))
    return {row["number"]: row | {"properties": json.loads(row["properties"] or "{}")} for row in rows}


def codes(world: World, import_id: int) -> list[tuple[int, str]]:
    """The rejected lines."""
    rows = world.query("SELECT line_no, code FROM import_rejections WHERE import_id = :id ORDER BY 1", id=import_id)
    return [tuple(row) for row in rows]


def test_an_overlay_touches_its_columns_only(world: World) -> None:
    loaded(world, FIRST)
    second = "Control Number,Title,Tags,Author\r\nA-1,uno,cold,Ann\r\nA-2,,,Bob\r\nA-9,new,,\r\nA-3,three,,\r\n"
    overlay = loaded(world, second, mode="overlay")
    assert counts(world, overlay) == (4, 0, 2, 1, 1)
    assert codes(world, overlay) == [(4, "NOT_IN_CASE")]
    held = exhibits(world)
    one, two, three = held["A-1"], held["A-2"], held["A-3"]
    assert (one["title"], one["bates_begin"], one["version"]) == ("uno", "N-1", 2)
    assert (one["properties"]["Author"], two["properties"]["Author"]) == ("Ann", "Bob")
    assert (two["title"], two["edited"], two["version"]) == ("two", 1, 2)
    assert (three["edited"], three["version"]) == (0, 1)
    assert links(world) == {("A-1", "Smith"), ("A-1", "cold"), ("A-1", "hot"), ("A-2", "Jones")}
    assert [
        tuple(row) for row in world.query("SELECT version, action, line_no FROM exhibit_changes ORDER BY 1, 3")
    ] == [
        (2, "overlaid", 2),
        (2, "overlaid", 3),
    ]


def test_blank_cells_clear_if_they_are_to(world: World) -> None:
    loaded(world, FIRST)
    second = (
        "Control Number,Title,Custodian,Date Sent,Author,Bates Begin\r\nA-1,,,,,  \r\nA-2,two,Jones,2001-02-01,,N-2\r\n"
    )
    assert counts(world, loaded(world, second, mode="overlay")) == (2, 0, 0, 2, 0)
    cleared = loaded(world, second, mode="overlay", blanks="clear")
    assert counts(world, cleared) == (2, 0, 1, 1, 0)
    one = exhibits(world)["A-1"]
    assert (one["title"], one["bates_begin"], one["date_sent"]) == (None, None, None)
    # The file had no column of tags, and custodians are merged.
    assert one["properties"] == {"Tags": "hot"}
    assert ("A-1", "Smith") in links(world)
    assert ("A-1", "hot") in links(world)


def test_names_are_replaced_if_they_are_to(world: World) -> None:
    loaded(world, FIRST)
    data = "Control Number,Custodian,Tags\r\nA-1,Brown;SMITH,\r\nA-2,Brown,warm\r\nA-3,,\r\n"
    assert counts(world, loaded(world, data, mode="overlay", multi_values="replace")) == (3, 0, 2, 1, 0)
    assert links(world) == {
        *(("A-1", name) for name in ("Smith", "Brown", "hot")),
        *(("A-2", name) for name in ("Brown", "warm")),
    }
    loaded(world, "Control Number,Custodian,Tags\r\nA-1,,\r\n", mode="overlay", multi_values="replace", blanks="clear")
    assert {number for number, _ in links(world)} == {"A-2"}


def test_documents_are_found_by_their_first_bates_number(world: World) -> None:
    loaded(world, FIRST)
    data = "Bates Begin,Title\r\nN-1,uno\r\nN-2,dos\r\nN-9,nueve\r\nn-1,other case\r\n"
    import_id = loaded(world, data, mode="overlay", overlay_key="bates_begin")
    assert counts(world, import_id) == (4, 0, 1, 0, 3)
    assert codes(world, import_id) == [(3, "AMBIGUOUS_KEY"), (4, "NOT_IN_CASE"), (5, "NOT_IN_CASE")]
    assert exhibits(world)["A-1"]["title"] == "uno"
    [(message,)] = world.query("SELECT message FROM import_rejections WHERE line_no = 3")
    assert "A-2, A-3" in message


def test_a_control_number_is_never_changed(world: World) -> None:
    loaded(world, FIRST)
    pending = announce(options={"mode": "overlay", "overlay_key": "bates_begin"})
    assert start(put(pending, b"Doc ID,Bates Begin,Title\r\nA-2,N-1,uno\r\n"))
    found = state(pending.id)
    assert (found.failure_code, "'Doc ID'" in (found.failure_message or "")) == ("BAD_OPTIONS", True)


def test_append_overlay_creates_what_the_case_lacks(world: World) -> None:
    loaded(world, FIRST)
    data = "Control Number,Title,Custodian\r\nA-1,uno,Smith\r\nB-1,new,Zoe\r\n,no id,\r\nB-1,again,\r\n"
    import_id = loaded(world, data, mode="append_overlay")
    assert counts(world, import_id) == (4, 1, 1, 0, 2)
    assert codes(world, import_id) == [(4, "MISSING_ID"), (5, "DUPLICATE_ID")]
    assert (exhibits(world)["B-1"]["version"], exhibits(world)["B-1"]["edited"]) == (1, 0)
    assert ("B-1", "Zoe") in links(world)


def test_the_first_file_again_is_not_unchanged_after_an_overlay(world: World) -> None:
    loaded(world, FIRST)
    loaded(world, "Control Number,Title\r\nA-1,uno\r\n", mode="overlay")
    again = loaded(world, FIRST)
    assert (counts(world, again), codes(world, again)) == ((3, 0, 0, 2, 1), [(2, "EXISTS_WITH_OTHER_VALUES")])


def test_equal_values_are_unchanged_with_and_without_equal_hashes(world: World) -> None:
    loaded(world, FIRST)
    assert counts(world, loaded(world, FIRST, mode="overlay")) == (3, 0, 0, 3, 0)
    other_columns = "Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-3,three,\r\n"
    assert counts(world, loaded(world, other_columns, mode="overlay")) == (2, 0, 0, 2, 0)
    assert world.query("SELECT 1 FROM exhibit_changes") == []
    assert {row["version"] for row in exhibits(world).values()} == {1}


def test_values_are_compared_byte_for_byte(world: World) -> None:
    loaded(world, FIRST)
    data = "Control Number,Title,Author,Bates Begin\r\nA-1,ONE,ann,N-1\r\nA-2,two ,<nil>,n-2\r\n"
    assert counts(world, loaded(world, data, mode="overlay")) == (2, 0, 2, 0, 0)
    held = exhibits(world)
    assert (held["A-1"]["title"], held["A-1"]["properties"]["Author"]) == ("ONE", "ann")
    assert (held["A-2"]["title"], held["A-2"]["properties"]["Author"], held["A-2"]["bates_begin"]) == (
        "two ",
        None,
        "n-2",
    )


def test_a_date_that_is_none_is_emptied_with_a_warning(world: World) -> None:
    loaded(world, FIRST)
    import_id = loaded(world, "Control Number,Date Sent\r\nA-1,2001-02-30\r\n", mode="overlay")
    assert exhibits(world)["A-1"]["date_sent"] is None
    [document_date] = world.query(
        "SELECT document_date, document_date_source FROM exhibits WHERE control_number = 'A-1'"
    )
    # It was taken from the date that was sent.
    assert tuple(document_date) == (None, None)
    codes = world.query("SELECT code FROM import_warnings WHERE import_id = :id ORDER BY line_no", id=import_id)
    assert [code for (code,) in codes] == ["COLUMN_WITHOUT_EFFECT", "INVALID_DATE"]


def test_properties_that_do_not_fit_together_keep_the_stored_ones(world: World) -> None:
    long = "x" * 40_000
    loaded(world, f"Control Number,Old,Both\r\nA-1,{long},short\r\n")
    import_id = loaded(world, f"Control Number,Both,Small\r\nA-1,{long},y\r\n", mode="overlay")
    assert exhibits(world)["A-1"]["properties"] == {"Old": long, "Both": "short", "Small": "y"}
    [warning] = world.query(
        "SELECT code, column_name, original_bytes FROM import_warnings WHERE import_id = :id", id=import_id
    )
    assert tuple(warning) == ("PROPERTY_DROPPED", "Both", 40_000)


def test_a_check_says_what_an_overlay_would_change(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    loaded(world, FIRST)
    before = (exhibits(world), links(world))
    data = "Control Number,Title,Custodian,Author\r\nA-1,uno,Brown,Ann\r\nA-2,,Jones,Bob\r\nA-9,x,,\r\nA-3,three,,\r\n"
    pending = announce(options={"mode": "overlay", "multi_values": "replace"}, dryRun=True)
    assert start(put(pending, data.encode()))
    run_chunks(world)
    check = get_import(CALLER, pending.id).check
    assert check is not None
    assert (check.would_import, check.would_update, check.unchanged, check.would_reject) == (0, 2, 1, 1)
    columns = [(each.column, each.rows) for each in check.changed_columns]
    assert columns == [("Author", 1), ("Custodian", 1), ("Title", 1)]
    assert [tuple(vars(each).values()) for each in check.examples] == [
        (2, "A-1", "Custodian", None, "Brown"),
        (2, "A-1", "Custodian", "Smith", None),
        (2, "A-1", "Title", "one", "uno"),
        (3, "A-2", "Author", None, "Bob"),
    ]
    assert (exhibits(world), links(world)) == before
    committed(run_import, CALLER, pending.id, RunRequest.model_validate({"acceptRejections": True}))
    finish(world)
    assert counts(world, pending.id) == (4, 0, 2, 1, 1)
    [warnings] = world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'")
    assert warnings[0] == 0


def test_padding_is_cleared_whether_or_not_the_hash_is_equal(world: World) -> None:
    first = "Control Number,Title,Author\r\nA-1,  , \r\nA-2,two,Ann\r\n"
    loaded(world, first)
    assert counts(world, loaded(world, first, mode="overlay")) == (2, 0, 0, 2, 0)
    assert counts(world, loaded(world, first, mode="overlay", blanks="clear")) == (2, 0, 1, 1, 0)
    one = exhibits(world)["A-1"]
    assert (one["title"], one["properties"], one["edited"]) == (None, {}, 1)


def test_the_first_file_changes_nothing_after_the_hashes_are_gone(world: World) -> None:
    first = (
        "Control Number,Bates Begin,BegAttach,Parent ID,Title,Date Sent,Time Sent,Custodian\r\n"
        "A-1,A-1,P-1,,one,2001-01-31,10:00:00.25,Smith\r\nA-2, A-2 ,,A-1,tw\U0001f600o,2001-02-30,,Jones; smith\r\n"
    )
    loaded(world, first)
    world.query("UPDATE exhibits SET row_hash = NULL")
    for options in ({}, {"blanks": "clear"}, {"blanks": "clear", "multi_values": "replace"}):
        assert counts(world, loaded(world, first, mode="overlay", **options)) == (2, 0, 0, 2, 0)
