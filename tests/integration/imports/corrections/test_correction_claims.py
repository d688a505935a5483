"""A rejected row is open until the case has it or a user leaves it out, and open again when that is taken back."""

from __future__ import annotations

import random
from typing import Any

import pytest

import start_import
from core.caller import Caller
from shell.utils.user_names import store_user_name
from tests.support.application.driver import World, call, complete_imports, request_messages
from tests.support.imports.corrected_rows import (
    CLIENT,
    check_cases,
    correct,
    count_open,
    deliver,
    get_state,
    list_rows,
    post,
    read_object,
    set_cell,
)
from tests.support.undo.runs import dump_documents, undo

HEADER, ROWS = "Control Number,Title\r\n", 6


def build_file(rows: int = ROWS) -> bytes:
    """A row that is right at line 2, then rows without an id."""
    return (HEADER + "A-1,one\r\n" + "".join(f",title {number}\r\n" for number in range(3, 3 + rows))).encode()


def check_open(world: World, import_id: int, expected: int) -> None:
    """The count of the API is that of the tables, row by row, and that of the list; every case has the sum."""
    check_cases()
    counts = (
        get_state(import_id)["openRejections"],
        count_open(world, import_id),
        sum(row["rows"] for row in list_rows(import_id, open="true")),
        next(each for each in CLIENT.get("/imports").json["items"] if each["id"] == import_id)["openRejections"],
    )
    assert counts == (expected,) * 4


def test_correct_reject_discard_undo(world: World) -> None:
    import_id = world.run(build_file())
    store_user_name(Caller(CLIENT.tenant, "ann", user_name="Ann Grey"))
    check_open(world, import_id, 6)
    # Two are right, one is rejected again: it has no id yet.
    first = correct(world, import_id, {3: set_cell(0, "B-3"), 4: set_cell(0, "B-4"), 5: set_cell(1, "still none")})
    check_open(world, import_id, 4)
    assert [row["originalLine"] for row in list_rows(first)] == [5]
    second = correct(world, import_id, {5: set_cell(0, "B-5")})
    check_open(world, import_id, 3)
    answer = post(import_id, discard=[6])
    assert (answer.status, answer.json["id"], answer.json["openRejections"]) == (201, None, 2)
    check_open(world, import_id, 2)
    assert undo(world, first).removed == 2
    check_open(world, import_id, 4)
    third = correct(world, import_id, {3: set_cell(0, "B-3")})
    check_open(world, import_id, 3)
    assert get_state(import_id)["correctedBy"] == [third, second, first]
    taken = {row["line"]: (row["correctedBy"], row["discardedBy"]) for row in list_rows(import_id)}
    none = (None, None)
    assert {(row["discardedBy"], row["discardedByName"]) for row in list_rows(import_id)} == {
        (None, None),
        ("ann", "Ann Grey"),
    }
    assert taken == {3: (third, None), 4: none, 5: (second, None), 6: (None, "ann"), 7: none, 8: none}
    assert [row["line"] for row in list_rows(import_id, open="false")] == [3, 5, 6]
    assert [row["line"] for row in list_rows(import_id, code="MISSING_ID", limit=2)] == [3, 4, 5, 6, 7, 8]
    assert list_rows(import_id, code="DUPLICATE_ID") == []
    rejections = CLIENT.get(f"/imports/{import_id}/rejections?open=true&limit=2").json
    assert [each["line"] for each in rejections["items"]] == [4, 7]
    rest = CLIENT.get(f"/imports/{import_id}/rejections?open=true&after={rejections['next']}").json["items"]
    assert [each["line"] for each in rest] == [8]
    assert read_object(world, second) == [{"line": 5, "cells": ["B-5", "title 5"]}]


def test_a_correction_that_is_cancelled_opens_its_lines_and_takes_them_again_if_they_are_free(world: World) -> None:
    import_id = world.run(build_file())
    cells = {row["line"]: row["cells"] for row in list_rows(import_id)}
    created = post(import_id, {line: set_cell(0, f"B-{line}")(cells[line]) for line in (3, 4)}).json["id"]
    check_running(import_id, created)
    check_open(world, import_id, 6)
    assert CLIENT.post(f"/imports/{created}/cancel").status == 200
    deliver(world)
    assert [row["correctedBy"] for row in list_rows(import_id)] == [None] * 6
    assert CLIENT.post(f"/imports/{created}/retry").status == 200
    deliver(world)
    check_open(world, import_id, 4)
    again = post(import_id, {5: set_cell(0, "B-5")(cells[5]), 6: set_cell(0, "B-6")(cells[6])}).json["id"]
    assert CLIENT.post(f"/imports/{again}/cancel").status == 200
    assert post(import_id, discard=[6]).status == 201
    refused = CLIENT.post(f"/imports/{again}/retry")
    assert (refused.status, refused.problem) == (409, "wrong-state")
    assert refused.json["detail"].startswith("1 of the rows")
    deliver(world)
    check_open(world, import_id, 3)
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 3


def check_running(import_id: int, created: int) -> None:
    """Lines of a correction that runs are open, and taken."""
    rows = {row["line"]: row["correctedBy"] for row in list_rows(import_id)}
    assert (rows[3], rows[4], rows[5]) == (created, created, None)
    refused = post(import_id, {3: ["X", "y"]}, discard=[4, 5])
    assert (refused.status, refused.problem) == (422, "correction-refused")
    places = {each["location"]: each["message"] for each in refused.json["errors"]}
    assert places == {
        "body/rows/0": f"Line 3 is being corrected by import {created}; read the rows again.",
        "body/discard/0": f"Line 4 is being corrected by import {created}; read the rows again.",
    }


def test_a_retry_of_a_correction_without_the_guard_would_import_a_row_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control of `refuse_without_claims`: two documents come from one line."""
    monkeypatch.setattr("shell.imports.commands.refuse_without_claims", lambda *_: None)
    import_id = world.run(build_file(1))
    first = post(import_id, {3: ["B-3", "x"]}).json["id"]
    assert CLIENT.post(f"/imports/{first}/cancel").status == 200
    assert post(import_id, {3: ["C-3", "x"]}).status == 201
    deliver(world)
    assert CLIENT.post(f"/imports/{first}/retry").status == 200
    deliver(world)
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 3


def test_a_correction_whose_chunk_failed_opens_its_lines_and_its_retry_corrects_them(world: World) -> None:
    import_id = world.run(build_file(2))
    created = post(import_id, {3: ["B-3", "x"], 4: ["B-4", "y"]}).json["id"]
    for request in request_messages():
        assert call(start_import.lambda_handler, request)
    (message,) = world.chunk_messages()
    world.give_up(message)
    world.chunk_messages()
    assert get_state(created)["status"] == "completed_with_rejections"
    check_open(world, import_id, 2)
    assert CLIENT.post(f"/imports/{created}/retry").status == 200
    deliver(world)
    check_open(world, import_id, 0)


def test_failed_chunks_are_retried_and_not_corrected(world: World, chunk_rows: Any) -> None:
    chunk_rows(2)
    import_id = world.start(build_file(4))
    messages = world.chunk_messages()
    assert world.import_chunk(messages[0])
    world.give_up(messages[1])
    world.chunk_messages()
    assert world.import_chunk(messages[2])
    for body in ({"rows": [{"line": 4, "cells": ["B-4", "x"]}]}, {"discard": [4]}):
        refused = CLIENT.post(f"/imports/{import_id}/corrections", body)
        assert (refused.status, refused.problem) == (422, "correction-refused")
        assert refused.json["detail"] == "Line 4: a whole chunk failed there; retry the import. Nothing was changed."
    check_open(world, import_id, 4)
    correct(world, import_id, {3: set_cell(0, "B-3"), 6: set_cell(0, "B-6")})
    check_open(world, import_id, 2)
    # A claim that lies in the failed chunk: as an error file that was uploaded may have taken it.
    claim = "INSERT INTO import_corrections (import_id, line_no, status, user_id) VALUES (:i, 5, 'discarded', 'ann')"
    world.query(claim, i=import_id)
    refused = CLIENT.post(f"/imports/{import_id}/retry")
    assert (refused.status, refused.json["detail"][:6]) == (409, "Line 5")
    world.query("DELETE FROM import_corrections WHERE import_id = :i AND line_no = 5", i=import_id)
    assert CLIENT.post(f"/imports/{import_id}/retry").status == 200
    refused = post(import_id, discard=[4])
    assert (refused.status, "running" in refused.json["detail"]) == (409, True)
    deliver(world)
    check_open(world, import_id, 2)


@pytest.mark.parametrize("first", ["original", "correction"])
def test_undo_in_each_order(world: World, first: str) -> None:
    before = dump_documents(world)
    import_id = world.run(build_file(2))
    correction = correct(world, import_id, {3: set_cell(0, "B-3"), 4: set_cell(0, "B-4")})
    order = (import_id, correction) if first == "original" else (correction, import_id)
    assert undo(world, order[0]).removed == (1 if first == "original" else 2)
    left = {row[0] for row in world.query("SELECT control_number FROM exhibits")}
    assert left == ({"B-3", "B-4"} if first == "original" else {"A-1"})
    assert undo(world, order[1]).kept == 0
    assert dump_documents(world) == before
    refused = post(import_id, {3: ["B-3", "x"]})
    assert (refused.status, refused.problem) == (409, "wrong-state")
    assert "undone" in refused.json["detail"]
    assert (get_state(import_id)["openRejections"], count_open(world, import_id)) == (0, 2)
    check_cases()


def test_a_document_that_an_undo_keeps_stays_corrected(world: World) -> None:
    import_id = world.run(build_file(2))
    correction = correct(world, import_id, {3: set_cell(0, "B-3"), 4: set_cell(0, "B-4")})
    exhibit = world.query("SELECT id FROM exhibits WHERE control_number = 'B-3'")[0][0]
    assert CLIENT.patch(f"/exhibits/{exhibit}", {"title": "edited"}, 1).status == 200
    assert undo(world, correction, dry_run=True).kept == 1
    check_open(world, import_id, 0)
    assert undo(world, correction).kept == 1
    check_open(world, import_id, 1)
    assert [row["line"] for row in list_rows(import_id, open="true")] == [4]


def test_an_id_that_exists_meanwhile(world: World) -> None:
    import_id = world.run(build_file(2))
    world.run((HEADER + "B-3,title 3\r\nB-4,other\r\n").encode())
    created = correct(world, import_id, {3: set_cell(0, "B-3"), 4: set_cell(0, "B-4")})
    state = get_state(created)
    assert (state["unchanged"], state["rejected"]) == (1, 1)
    check_open(world, import_id, 1)
    # The document is of another import, and stays; only the correction is taken back.
    undone = undo(world, created)
    assert (undone.removed, undone.restored, undone.kept) == (0, 0, 0)
    check_open(world, import_id, 2)
    assert get_state(correct(world, import_id, {3: set_cell(0, "B-3")}))["unchanged"] == 1
    check_open(world, import_id, 1)


def test_two_rows_of_a_request_with_one_id(world: World) -> None:
    import_id = world.run(build_file(2))
    created = correct(world, import_id, {3: set_cell(0, "B"), 4: set_cell(0, " B")})
    assert [(row["originalLine"], row["errors"][0]["code"]) for row in list_rows(created)] == [(4, "DUPLICATE_ID")]
    check_open(world, import_id, 1)


def test_what_is_refused(world: World) -> None:
    import_id, other = world.run(build_file(2)), world.run(build_file(4), case="Other")
    cells = {"rows": [{"line": 3, "cells": ["one"]}, {"line": 4, "cells": ["B-4", "x"]}]}
    refused = CLIENT.post(f"/imports/{import_id}/corrections", cells)
    assert (refused.status, refused.json["errors"]) == (
        422,
        [{"location": "body/rows/0", "message": "Line 3: 1 cells; the file has 2 columns."}],
    )
    # A line that was not rejected, and one of another import.
    for line in (2, 6):
        assert post(import_id, {line: ["B", "x"]}).json["errors"][0]["message"].startswith(f"Line {line}: the import")
    correction = correct(world, other, {3: set_cell(1, "x")})
    refused = post(correction, {1: ["B", "x"]})
    assert (refused.status, f"corrects import {other}" in refused.json["detail"]) == (409, True)
    for body in ({}, {"discard": [3, 3]}, {"rows": [{"line": 3, "cells": ["a", "b"]}], "discard": [3]}):
        assert CLIENT.post(f"/imports/{import_id}/corrections", body).status == 400
    large = {"rows": [{"line": 3, "cells": ["B", "x" * 4_000_000]}]}
    assert CLIENT.post(f"/imports/{import_id}/corrections", large).status == 400
    assert world.query("SELECT COUNT(*) FROM import_corrections WHERE import_id = :i", i=import_id)[0][0] == 0
    check_open(world, import_id, 2)


def test_the_reports_of_the_original_are_unchanged_and_those_of_a_correction_have_the_original_lines(
    world: World,
) -> None:
    import_id = world.run(build_file())
    before = world.report(import_id)
    world.query("UPDATE imports SET reports_generation = 0 WHERE id = :i", i=import_id)
    correction = correct(world, import_id, {3: set_cell(0, "B-3"), 7: set_cell(1, "no id, and ü")})
    post(import_id, discard=[4])
    assert world.report(import_id) == before
    own = world.report(correction)
    assert own["rejected_rows.jsonl"].decode() == '{"line":7,"cells":["","no id, and ü"]}\n'
    assert own["report.csv"].decode().splitlines()[1].endswith(",1,7")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_of_corrections(world: World, seed: int) -> None:
    """Open rows are those of a model that knows the requests, at every quiet point."""
    choose = random.Random(seed)
    import_id = world.run(build_file(8))
    owner, lines = dict[int, Any](), dict[int, list[int]]()
    for step in range(14):
        free = [line for line in range(3, 11) if line not in owner]
        action = choose.choice(["correct", "reject", "discard", "cancel", "undo", "retry"])
        if action in ("correct", "reject", "cancel") and free:
            chosen = sorted(choose.sample(free, min(len(free), 2)))
            number = "" if action == "reject" else f"S{step}"
            rows = {line: [number and f"{number}-{line}", "x"] for line in chosen}
            created = post(import_id, rows).json["id"]
            lines[created] = chosen
            if action == "cancel":
                assert CLIENT.post(f"/imports/{created}/cancel").status == 200
            deliver(world)
            owner |= dict.fromkeys(chosen, created) if action == "correct" else {}
        elif action == "discard" and free:
            line = choose.choice(free)
            assert post(import_id, discard=[line]).status == 201
            owner[line] = "discarded"
        elif action == "undo" and any(isinstance(each, int) for each in owner.values()):
            undone = choose.choice([each for each in owner.values() if isinstance(each, int)])
            undo(world, undone)
            owner = {line: by for line, by in owner.items() if by != undone}
        elif action == "retry" and lines:
            retried = choose.choice(list(lines))
            if CLIENT.post(f"/imports/{retried}/retry").status == 200:
                deliver(world)
                owner |= dict.fromkeys(lines[retried], retried)
        complete_imports()
        check_open(world, import_id, 8 - len(owner))
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 1 + sum(isinstance(by, int) for by in owner.values())
