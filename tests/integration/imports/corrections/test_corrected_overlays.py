"""A corrected row of an overlay replaces nothing that is newer than the overlay, unless it states the version."""

from __future__ import annotations

from typing import Any

import pytest

from shell.imports.chunks import overlay_rows
from tests.integration.imports.corrections.test_correction_claims import check_open
from tests.support.application.driver import World
from tests.support.imports.corrected_rows import CLIENT, correct, deliver, get_state, list_rows, set_cell
from tests.support.undo.runs import undo

HEADER = "Control Number,Title\r\n"
BASE = HEADER + "".join(f"A-{number},base\r\n" for number in range(1, 6))


def build(*rows: str) -> bytes:
    """A file with these rows."""
    return (HEADER + "".join(f"{row}\r\n" for row in rows)).encode()


def list_titles(world: World) -> dict[str, str]:
    """The titles of the case by control number."""
    return dict(tuple(row) for row in world.query("SELECT control_number, title FROM exhibits ORDER BY 1"))


def list_reasons(import_id: int) -> dict[int, tuple[str, str]]:
    """The code and message of each rejected row of a correction, by the line in the original."""
    rows = list_rows(import_id)
    return {row["originalLine"]: (row["errors"][0]["code"], row["errors"][0]["message"]) for row in rows}


def get_document(world: World, number: str) -> tuple[int, int]:
    """The id and the version of a document."""
    found = world.query("SELECT id, version FROM exhibits WHERE control_number = :n", n=number)[0]
    return found[0], found[1]


@pytest.fixture
def overlay(world: World) -> int:
    """An overlay of two documents, with three rows whose ids are missing and one that another row of the file has."""
    world.run(BASE.encode())
    return world.run(build("A-1,seven", ",seven", ",seven", ",seven", "A-1,late"), mode="overlay")


def test_overlay_7_overlay_9_correct_7(world: World, overlay: int) -> None:
    later = world.run(build("A-2,nine", "A-9,none"), mode="overlay")
    corrected = correct(world, overlay, {3: set_cell(0, "A-2"), 4: set_cell(0, "A-3")})
    state = get_state(corrected)
    assert (state["updated"], state["rejected"], state["mode"]) == (1, 1, "overlay")
    assert list_titles(world) == {"A-1": "seven", "A-2": "nine", "A-3": "seven", "A-4": "base", "A-5": "base"}
    message = f"A-2 was changed by import {later}, line 2, since import {overlay} rejected this row and has version 2."
    advice = "Look at the document; to change it all the same, correct the row with that version."
    assert list_reasons(corrected) == {3: ("DOCUMENT_CHANGED", f"{message} {advice}")}
    check_open(world, overlay, 3)
    # With the version that the message has, the row is a decision. With an earlier one it is not.
    for version, title, still_open in ((1, "nine", 3), (2, "seven", 2)):
        body = {"rows": [{"line": 3, "cells": ["A-2", "seven"], "version": version}]}
        assert CLIENT.post(f"/imports/{overlay}/corrections", body).status == 201
        deliver(world)
        assert list_titles(world)["A-2"] == title
        check_open(world, overlay, still_open)


def test_without_the_look_at_changes_the_newer_overlay_is_lost(
    world: World, overlay: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""
    world.run(build("A-2,nine"), mode="overlay")
    monkeypatch.setattr(overlay_rows, "find_changed", lambda *_: {})
    correct(world, overlay, {3: set_cell(0, "A-2")})
    assert list_titles(world)["A-2"] == "seven"


def test_a_duplicate_does_not_replace_the_row_that_counts(world: World, overlay: int) -> None:
    _, version = get_document(world, "A-1")
    assert list_rows(overlay)[3]["errors"][0]["code"] == "DUPLICATE_ID"
    body = {"rows": [{"line": 6, "cells": ["A-1", "late"], "version": version}]}
    created = CLIENT.post(f"/imports/{overlay}/corrections", body).json["id"]
    deliver(world)
    message = f"Import {overlay} has another row of A-1, in line 2, which counts. Correct the id of this one."
    assert list_reasons(created) == {6: ("DUPLICATE_ID", message)}
    assert list_titles(world)["A-1"] == "seven"
    check_open(world, overlay, 4)
    # With the values of the row that counts, it changes nothing; with another id, it is another document's.
    assert correct(world, overlay, {6: set_cell(1, "seven")})
    check_open(world, overlay, 3)


def test_a_row_that_the_overlay_found_equal_counts_too(world: World) -> None:
    world.run(BASE.encode())
    overlay = world.run(build("A-1,base", ",late"), mode="overlay")
    created = correct(world, overlay, {3: set_cell(0, "A-1")})
    assert list_reasons(created)[3][0] == "DUPLICATE_ID"
    assert list_titles(world)["A-1"] == "base"


@pytest.mark.parametrize("mode", ["overlay", "append_overlay"])
def test_edits_tags_and_documents_that_are_new(world: World, mode: str) -> None:
    world.run(BASE.encode())
    overlay = world.run(build(",seven", ",seven", ",seven", ",seven"), mode=mode)
    exhibit, version = get_document(world, "A-2")
    assert CLIENT.patch(f"/exhibits/{exhibit}", {"title": "edited"}, version).status == 200
    world.run(build("B-1,nine"))
    changes = {2: set_cell(0, "A-2"), 3: set_cell(0, "B-1"), 4: set_cell(0, "A-3"), 5: set_cell(0, "B-2")}
    reasons = list_reasons(correct(world, overlay, changes))
    assert {line: code for line, (code, _) in reasons.items()} == {
        2: "DOCUMENT_CHANGED",
        3: "DOCUMENT_CHANGED",
        **({5: "NOT_IN_CASE"} if mode == "overlay" else {}),
    }
    assert "was changed by user ann since" in reasons[2][1]
    titles = list_titles(world)
    assert (titles["A-2"], titles["B-1"], titles["A-3"]) == ("edited", "nine", "seven")
    assert titles.get("B-2") == (None if mode == "overlay" else "seven")


def test_a_version_of_a_document_that_is_gone(world: World) -> None:
    world.run(BASE.encode())
    overlay = world.run(build(",seven"), mode="append_overlay")
    body = {"rows": [{"line": 2, "cells": ["B-1", "seven"], "version": 1}]}
    created = CLIENT.post(f"/imports/{overlay}/corrections", body).json["id"]
    deliver(world)
    assert list_reasons(created)[2][0] == "DOCUMENT_CHANGED"
    assert "B-1" not in list_titles(world)


def test_what_was_undone_does_not_count(world: World, overlay: int) -> None:
    later = world.run(build("A-2,nine"), mode="overlay")
    undo(world, later)
    first = correct(world, overlay, {3: set_cell(0, "A-2")})
    assert list_titles(world)["A-2"] == "seven"
    undo(world, first)
    check_open(world, overlay, 4)
    correct(world, overlay, {3: set_cell(0, "A-2")})
    assert list_titles(world)["A-2"] == "seven"
    check_open(world, overlay, 3)


def test_a_retry_of_the_original_does_not_hide_a_change(world: World, chunk_rows: Any) -> None:
    """Its time of start moves; the chunk that rejected the row does not."""
    chunk_rows(1)
    world.run(BASE.encode())
    overlay = world.start(build(",seven", "A-5,seven"), mode="overlay")
    messages = world.chunk_messages()
    assert world.import_chunk(messages[0])
    world.give_up(messages[1])
    world.chunk_messages()
    exhibit, version = get_document(world, "A-2")
    assert CLIENT.patch(f"/exhibits/{exhibit}", {"title": "edited"}, version).status == 200
    assert CLIENT.post(f"/imports/{overlay}/retry").status == 200
    deliver(world)
    created = correct(world, overlay, {2: set_cell(0, "A-2")})
    assert list_reasons(created)[2][0] == "DOCUMENT_CHANGED"
