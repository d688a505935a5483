"""What a page polls of an import, a volume and a production: few bytes, 304, many imports at once, signed reports."""

from __future__ import annotations

import json
import urllib.request
from urllib.parse import unquote

import pytest

from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.database.server_status import statements

ADA, BOB = Client(), Client(tenant="other", user="bob")
CASE = 'Müller v. "Jones" / 2'
TITLE = "t" * 2000
ROWS = f"Control Number,Title\r\nA-1,{TITLE}\r\n,No number\r\nA-1,Again\r\n".encode()


def imported(world: World, data: bytes = ROWS, name: str = CASE) -> int:
    """An import of Ada's tenant, with its reports."""
    import_id = world.run(data)
    world.report(import_id)
    world.query("UPDATE imports SET tenant_id = 'acme' WHERE id = :i", i=import_id)
    world.query("UPDATE cases SET tenant_id = 'acme', name = :name WHERE tenant_id = 'tenant'", name=name)
    return import_id


def poll(path: str, known: str | None = None) -> Reply:
    return ADA.call("GET", path, **({} if known is None else {"If-None-Match": known}))


def test_the_progress_is_the_state_of_the_list_in_few_bytes_and_statements(world: World) -> None:
    import_id = imported(world)
    progress = poll(f"/imports/{import_id}/progress")
    (listed,) = ADA.get("/imports").json["items"]
    assert progress.json == listed
    assert (listed["kind"], listed["phase"], listed["mode"], listed["volumeId"]) == ("rows", "import", "append", None)
    assert (listed["chunks"], listed["chunksDone"], listed["chunksFailed"]) == (1, 1, 0)
    assert listed["bytesRead"] == listed["size"] == len(ROWS)
    assert len(json.dumps(progress.json)) < 2_000
    assert statements(world, lambda: poll(f"/imports/{import_id}/progress")) <= 4


def test_several_imports_are_polled_by_one_request(world: World) -> None:
    first, second, third = (imported(world, name=f"Case {number}") for number in range(3))
    found = ADA.get(f"/imports?ids={third},{first},999").json
    assert ([each["id"] for each in found["items"]], found["next"]) == ([third, first], None)
    assert first < second < third
    assert ADA.get("/imports?ids=1,a").status == 400
    assert BOB.get(f"/imports?ids={first}").json["items"] == []


def test_a_client_that_has_the_last_answer_gets_304_until_something_changes(world: World) -> None:
    import_id = imported(world)
    for path in (f"/imports/{import_id}", f"/imports/{import_id}/progress"):
        first = poll(path)
        tag = first.headers["etag"]
        assert tag.startswith('W/"')
        for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            again = poll(path, known)
            assert (again.status, again.json, again.headers["etag"]) == (304, None, tag)
        assert poll(path, '"other"').json == first.json
        world.query("UPDATE imports SET rejected = rejected + 1 WHERE id = :i", i=import_id)
        changed = poll(path, tag)
        assert (changed.status, changed.headers["etag"] != tag) == (200, True)
        assert BOB.call("GET", path, **{"If-None-Match": "*"}).status == 404


def test_estimates_alone_are_no_change(world: World) -> None:
    import_id = imported(world)
    world.query(
        "UPDATE imports SET status = 'running', started_at = NOW(6) - INTERVAL 9 SECOND WHERE id = :i", i=import_id
    )
    first = poll(f"/imports/{import_id}/progress")
    assert first.json["rowsPerSecond"] is None or first.json["rowsPerSecond"] > 0
    world.query("UPDATE import_chunks SET finished_at = NOW(6) WHERE import_id = :i", i=import_id)
    paced = poll(f"/imports/{import_id}/progress")
    assert paced.json["rowsPerSecond"] != first.json["rowsPerSecond"] or paced.json == first.json
    assert paced.headers["etag"] == first.headers["etag"]


def test_the_codes_of_an_import_have_counts_lines_and_messages(world: World) -> None:
    import_id = imported(world)
    codes = ADA.get(f"/imports/{import_id}/codes").json
    assert codes["isComplete"] is True
    found = {each.pop("code"): each for each in codes["rejections"]}
    assert found["DUPLICATE_ID"] | {"message": ""} == {
        "column": None,
        "count": 1,
        "rows": 1,
        "firstLine": 4,
        "message": "",
    }
    assert set(found) == {"MISSING_ID", "DUPLICATE_ID"}
    listed = ADA.get(f"/imports/{import_id}/rejections?code=MISSING_ID").json
    assert ([each["line"] for each in listed["items"]], listed["total"]) == ([3], 1)
    assert BOB.get(f"/imports/{import_id}/codes").status == 404


def test_a_warning_has_the_original_and_the_stored_value_as_text(world: World) -> None:
    import_id = imported(world, "Control Number,Custodian\r\nA-1,ÉVA\r\nA-2,Éva\r\n".encode())
    (merged,) = ADA.get(f"/imports/{import_id}/warnings?code=NAME_MERGED").json["items"]
    assert (merged["originalText"], merged["storedText"]) == ("Éva", "ÉVA")
    # As a byte of the file that could not be decoded is kept, and a value that is too long to be kept.
    world.query("UPDATE import_warnings SET original = :bytes, `stored` = NULL", bytes=b"a\xed\xb2\x80b")
    (damaged,) = ADA.get(f"/imports/{import_id}/warnings").json["items"]
    assert (damaged["originalText"], damaged["storedText"]) == ("a\ufffdb", None)


def test_reports_are_signed_on_request_with_names_and_types(world: World) -> None:
    import_id = imported(world)
    state = poll(f"/imports/{import_id}")
    assert "Signature" not in json.dumps(state.json)
    signed = ADA.get(f"/imports/{import_id}/reports").json
    assert signed["report"]["fileName"] == f"Müller v. _Jones_ _ 2 - import {import_id} - report.csv"
    assert signed["findings"] is None
    for name in ("report", "rejectedRows", "options"):
        with urllib.request.urlopen(signed[name]["url"]) as answer:  # noqa: S310 - moto's
            shown = answer.headers["Content-Disposition"]
            kind = answer.headers["Content-Type"]
            assert answer.read()
        assert shown.startswith('attachment; filename="M_ller v. ')
        assert unquote(shown.partition("filename*=UTF-8''")[2]) == signed[name]["fileName"]
        assert kind.partition(";")[0] in ("text/csv", "application/octet-stream", "application/json")
    assert BOB.get(f"/imports/{import_id}/reports").status == 404


def test_before_they_are_written_there_are_no_reports(world: World) -> None:
    announced = ADA.post("/imports", {"case": "Case", "fileName": "a.csv"}).json
    signed = ADA.get(f"/imports/{announced['id']}/reports").json
    assert {name for name, each in signed.items() if each} == {"expiresInSeconds"}


@pytest.mark.parametrize("data", [ROWS.replace(b",", b"|"), "Control Number,Titel\r\nA-1,Ä\r\n".encode("cp1252")])
def test_how_a_file_was_read_is_there_after_the_fact(world: World, data: bytes) -> None:
    reading = poll(f"/imports/{imported(world, data)}").json["reading"]
    assert reading["delimiter"] == ("|" if b"|" in data else ",")
    assert reading["encoding"] == ("utf-8" if b"|" in data else "cp1252")
    assert (reading["header"], reading["timeZone"]) == (True, None)
