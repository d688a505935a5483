"""A rejected-rows file that says what it corrects takes each line once, and is read as the original was."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import start_import
from core.errors import UnavailableError
from shell.aws import clients
from shell.imports.chunks import row_reader
from shell.imports.chunks.chunk_source import load_chunk
from shell.imports.chunks.write_or_check import finish_chunk
from tests.integration.imports.corrections.test_corrected_overlays import BASE, build, list_reasons, list_titles
from tests.integration.imports.corrections.test_correction_claims import build_file, check_open
from tests.support.application.driver import World, call
from tests.support.exhibits.tagging_job_runs import finish_job, request_job
from tests.support.imports.corrected_rows import CLIENT, deliver, dump_case, get_state, list_rows, post
from tests.support.undo.runs import undo


def read_error_file(world: World, import_id: int) -> str:
    """The rejected-rows file of an import, as text."""
    files = world.report(import_id)
    world.query("UPDATE imports SET reports_generation = 0 WHERE id = :i", i=import_id)
    return next(data for name, data in files.items() if name.startswith("rejected_rows")).decode("utf-8-sig")


def write_error_file(*lines: int) -> str:
    """The rejected-rows file of `build_file`: a test below compares them."""
    rows = "".join(f",title {line},L{line}\r\n" for line in lines)
    return f"Control Number,Title,ExhibitIngestLine\r\n{rows}"


def announce(corrects: int, **body: Any) -> Any:
    """The answer to the announcement of a corrected file."""
    request = {"case": "Case", "fileName": "rejected.csv", "corrects": corrects, **body}
    return CLIENT.post("/imports", request)


def put(world: World, announced: Any, text: str) -> dict[str, Any]:
    """Upload the file of an announcement; return the notification."""
    key = world.query("SELECT object_key FROM imports WHERE id = :i", i=announced["id"])[0][0]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"\xef\xbb\xbf" + text.encode())
    return world.notification_of(key)


def upload(world: World, corrects: int, text: str, **body: Any) -> int:
    """Upload a corrected file to the end of its import; return that."""
    announced = announce(corrects, **body)
    assert announced.status == 201, announced
    assert call(start_import.lambda_handler, put(world, announced.json, text))
    for message in world.chunk_messages():
        assert world.import_chunk(message), message
    return int(announced.json["id"])


def give_ids(text: str, ids: dict[int, str]) -> str:
    """The lines of an error file that have ids now, by their lines in the original."""
    header, *rows = text.splitlines()
    kept = [ids[int(found[1])] + row for row in rows if (found := re.search(r"L(\d+)$", row)) and int(found[1]) in ids]
    return "\r\n".join((header, *kept)) + "\r\n"


def test_walk_of_uploads(world: World) -> None:
    """Correct, reject, correct, undo, cancel, retry: open lines are those that the case does not have."""
    import_id = world.run(build_file(4))
    file = write_error_file(3, 4, 5, 6)
    assert read_error_file(world, import_id) == file
    first = upload(world, import_id, give_ids(file, {3: "B-3", 4: "B-4", 5: ""}))
    state = get_state(first)
    assert (state["imported"], state["rejected"], state["corrects"]) == (2, 1, import_id)
    assert get_state(import_id)["correctedBy"] == [first]
    check_open(world, import_id, 2)
    # The rows that were rejected again have the lines of the original, and their own file corrects it.
    again = read_error_file(world, first)
    assert again.splitlines()[1].endswith(",title 5,L5")
    second = upload(world, import_id, give_ids(again, {5: "B-5"}))
    check_open(world, import_id, 1)
    assert undo(world, first).removed == 2
    check_open(world, import_id, 3)
    # What is taken or was never rejected is rejected; the rest counts.
    third = upload(world, import_id, give_ids(file, {3: "B-3", 5: "C-5"}) + "D,x,L2\r\nE,x,new\r\nF,x,L3\r\n")
    reasons = [row["errors"][0] for row in list_rows(third)]
    assert {each["code"] for each in reasons} == {"LINE_NOT_OPEN"}
    advice = "Import rows that you added in a file of their own, without `corrects`."
    assert [each["message"] for each in reasons] == [
        f"Line 5 of import {import_id} is corrected by import {second}.",
        "Line 2: the import has no rejected row there.",
        f"The row has no line of import {import_id}. {advice}",
        "Line 2 of this file corrects line 3, too. Keep one of the two.",
    ]
    check_open(world, import_id, 2)
    assert post(import_id, discard=[6]).status == 201
    fourth = upload(world, import_id, give_ids(file, {6: "B-6"}))
    assert list_reasons(fourth)[6][1] == f"Line 6 of import {import_id} is discarded."
    check_open(world, import_id, 1)


def test_cancel_and_retry_of_an_upload(world: World) -> None:
    import_id = world.run(build_file(2))
    file = write_error_file(3, 4)
    announced = announce(import_id).json
    assert get_state(import_id)["correctedBy"] == []
    assert call(start_import.lambda_handler, put(world, announced, give_ids(file, {3: "B-3", 4: "B-4"})))
    assert CLIENT.post(f"/imports/{announced['id']}/cancel").status == 200
    for message in world.chunk_messages():
        world.import_chunk(message)
    check_open(world, import_id, 2)
    assert post(import_id, {3: ["C-3", "x"]}).status == 201
    deliver(world)
    # Nothing was lost: it corrects what is open, and says of the other line what has it.
    assert CLIENT.post(f"/imports/{announced['id']}/retry").status == 200
    deliver(world)
    assert set(list_reasons(announced["id"])) == {3}
    assert set(list_titles(world)) == {"A-1", "B-4", "C-3"}
    check_open(world, import_id, 0)


@pytest.mark.parametrize("first", ["request", "upload"])
def test_both_ways_at_once_on_one_line(world: World, first: str) -> None:
    """The chunk has read its rows when the other way takes the line: one document, and none is open."""
    import_id = world.run(build_file(1))
    announced = announce(import_id).json
    assert call(start_import.lambda_handler, put(world, announced, give_ids(write_error_file(3), {3: "U"})))
    (message,) = world.chunk_messages()
    prepared = row_reader.read_rows(load_chunk(announced["id"], 1))  # type: ignore[arg-type]
    if first == "request":
        assert post(import_id, {3: ["R", "x"]}).status == 201
        with pytest.raises(UnavailableError, match="the chunk is read again"):
            finish_chunk(prepared)
        assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 1
        deliver(world)
        assert world.import_chunk(message)
        world.chunk_messages()
    else:
        finish_chunk(prepared)
        world.chunk_messages()
        refused = post(import_id, {3: ["R", "x"]})
        assert (refused.status, refused.problem) == (422, "correction-refused")
    assert set(list_titles(world)) == {"A-1", "R" if first == "request" else "U"}
    check_open(world, import_id, 0)


def test_without_the_look_at_claims_one_line_makes_two_documents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    monkeypatch.setattr("shell.imports.chunks.writer.accept_rows", lambda *_: None)
    import_id = world.run(build_file(1))
    announced = announce(import_id).json
    assert call(start_import.lambda_handler, put(world, announced, give_ids(write_error_file(3), {3: "U"})))
    prepared = row_reader.read_rows(load_chunk(announced["id"], 1))  # type: ignore[arg-type]
    world.chunk_messages()
    assert post(import_id, {3: ["R", "x"]}).status == 201
    deliver(world)
    finish_chunk(prepared)
    assert set(list_titles(world)) == {"A-1", "R", "U"}


def test_an_id_that_exists_meanwhile(world: World) -> None:
    import_id = world.run(build_file(2))
    world.run(build("B-3,title 3", "B-4,other"))
    created = upload(world, import_id, give_ids(write_error_file(3, 4), {3: "B-3", 4: "B-4"}))
    state = get_state(created)
    assert (state["unchanged"], state["rejected"]) == (1, 1)
    check_open(world, import_id, 1)


def test_values_are_read_as_in_the_original_and_the_dialect_is_that_of_the_file(world: World) -> None:
    """The file alone has dates that are read month first, and a spreadsheet has saved it with other characters."""
    header = "Control Number|Title|Custodian|Document Date"
    rows = ("A|one|Ada;Bob|13/05/2019", "|two~more|Ada/x;Bob|03/04/2019")
    options: dict[str, Any] = {"newline": "~", "delimiter": "pipe"}
    original = world.run("\r\n".join((header, *rows, "")).encode(), **options)
    right = [rows[0], "B" + rows[1]]
    world.run("\r\n".join((header, *right, "")).encode(), case="Right", **options)
    corrected = '"Control Number","Title","Custodian","Document Date","ExhibitIngestLine"\r\n'
    corrected += '"B","two~more","Ada/x;Bob","03/04/2019","L3"\r\n'
    created = upload(world, original, corrected, options={"delimiter": "comma", "qualifier": "quote"})
    assert (get_state(created)["imported"], get_state(created)["warnings"]) == (1, 0)
    assert dump_case(world, "Case") == dump_case(world, "Right")
    check_open(world, original, 0)


def test_an_overlay_that_is_corrected_by_a_file(world: World) -> None:
    world.run(BASE.encode())
    overlay = world.run(build(",seven", ",seven"), mode="overlay")
    world.run(build("A-2,nine"), mode="overlay")
    created = upload(
        world,
        overlay,
        give_ids(write_error_file(2, 3).replace("title 2", "seven").replace("title 3", "seven"), {2: "A-2", 3: "A-3"}),
    )
    assert get_state(created)["mode"] == "overlay"
    assert list_reasons(created)[2][0] == "DOCUMENT_CHANGED"
    assert (list_titles(world)["A-2"], list_titles(world)["A-3"]) == ("nine", "seven")
    check_open(world, overlay, 1)


def test_the_options_object_says_it_too_and_options_json_is_sent_unchanged(world: World) -> None:
    import_id = world.run(build_file(1))
    file, given = write_error_file(3), json.loads(world.report(import_id)["options.json"])
    message = world.upload(give_ids(file, {3: "B-3"}).encode(), name="rejected.csv", **given, corrects=import_id)
    assert call(start_import.lambda_handler, message)
    for each in world.chunk_messages():
        assert world.import_chunk(each)
    check_open(world, import_id, 0)
    assert len(get_state(import_id)["correctedBy"]) == 1


BAD_FILES = {
    "no lines": ("Control Number,Title\r\nB-3,x\r\n", {}, "The file has no column of lines"),
    "other columns": (
        "Control Number,Title,Pages,ExhibitIngestLine\r\nB-3,x,1,L3\r\n",
        {},
        "The columns are not those of the import whose rows it corrects",
    ),
    "other rules": (
        "Control Number,Title,ExhibitIngestLine\r\nB-3,x,L3\r\n",
        {"dateOrder": "DMY"},
        "Option 'date_order' differs from that of the import whose rows this file corrects",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_are_refused(world: World, name: str) -> None:
    text, options, reason = BAD_FILES[name]
    import_id = world.run(build_file(1))
    state = get_state(upload(world, import_id, text, options=options))
    assert (state["status"], state["failureCode"]) == ("failed", "NOT_A_CORRECTION")
    assert state["failureMessage"].startswith(reason)
    check_open(world, import_id, 1)


def test_announcements_that_are_refused(world: World) -> None:
    import_id, other = world.run(build_file(1)), world.run(build_file(1), case="Other")
    correction = upload(world, import_id, give_ids(write_error_file(3), {3: ""}))
    headerless = world.run(b"A-1,x\r\n,y\r\n", header=False, columns={"1": "control_number"})
    assert (announce(other).status, announce(999).status) == (404, 404)
    for refused in (correction, headerless):
        assert (announce(refused).status, announce(refused).problem) == (409, "wrong-state"), refused
    assert announce(import_id, profile="any").status == 400
    undo(world, correction)
    pending = announce(import_id).json
    undo(world, import_id)
    assert announce(import_id).status == 409
    assert call(start_import.lambda_handler, put(world, pending, build_file(1).decode()))
    assert get_state(pending["id"])["failureCode"] == "NOT_A_CORRECTION"


def test_a_row_of_a_file_that_a_newer_value_rejects_says_what_to_do(world: World) -> None:
    """A file has no place for a version; tags that were set since are no newer value of its columns."""
    world.run(BASE.encode())
    overlay = world.run(build(",seven", ",seven"), mode="overlay")
    finish_job(world, request_job({}, add=("Reviewed",)))
    world.run(build("A-2,eight", "A-2,nine", "A-9,none"), mode="overlay")
    later = world.run(build("A-2,ten"), mode="overlay")
    text = write_error_file(2, 3).replace("title 2", "seven").replace("title 3", "seven")
    corrected = upload(world, overlay, give_ids(text, {2: "A-2", 3: "A-3"}))
    message = f"A-2 was changed by import {later}, line 2, since import {overlay} rejected this row and has version 4."
    advice = f"to change it all the same, correct the row by POST /imports/{overlay}/corrections with that version."
    reasons = list_reasons(corrected)
    assert reasons == {2: ("DOCUMENT_CHANGED", f"{message} Look at the document; {advice}")}
    assert list_titles(world)["A-3"] == "seven"


def test_tags_set_since_are_newer_than_a_row_with_tags(world: World) -> None:
    world.run(BASE.encode())
    overlay = world.run(b"Control Number,Tags\r\n,hot\r\n", mode="overlay")
    finish_job(world, request_job({}, add=("Reviewed",)))
    text = read_error_file(world, overlay).replace("\r\n,hot", "\r\nA-2,hot")
    assert list_reasons(upload(world, overlay, text))[2][0] == "DOCUMENT_CHANGED"


@pytest.mark.parametrize("order", [1, -1])
def test_one_line_in_two_chunks_of_a_file(world: World, chunk_rows: Any, order: int) -> None:
    """The first row that is accepted wins, and the other one's message says that a row of its file has the line."""
    import_id = world.run(build_file(1))
    chunk_rows(1)
    announced = announce(import_id).json
    text = give_ids(write_error_file(3), {3: "U"}) + "V,other,L3\r\n"
    assert call(start_import.lambda_handler, put(world, announced, text))
    for message in list(world.chunk_messages())[::order]:
        assert world.import_chunk(message)
    world.chunk_messages()
    assert set(list_titles(world)) == {"A-1", "U" if order == 1 else "V"}
    reason = f"Line 3 of import {import_id} is corrected by another row of this file; keep one of the two."
    assert list_reasons(int(announced["id"]))[3] == ("LINE_NOT_OPEN", reason)
