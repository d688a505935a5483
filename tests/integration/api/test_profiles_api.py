"""Mapping profiles over HTTP: versions, names, one effect per key, and what an import copies; previews of uploads."""

from __future__ import annotations

import json
import secrets
from typing import Any
from urllib.parse import quote

import pytest

import start_import
from core.imports.uploads import build_options_key
from exhibit_ingest.importing.profiles import save_profile
from shell.aws import clients
from tests.support.api.client import TOKENS, Client, Reply
from tests.support.application.driver import World, call

ADA, STRANGER = Client(), Client(tenant="other")
# Of the files that `World.run` puts into the bucket.
OWNER = Client(tenant="tenant")
CSV = b"Doc ID,Subject,Written,Author\r\nA-1,Plan,01/02/2019,Ada;Grace\r\nA-2,,03/04/2019,Ada\r\n"
OPTIONS = {"dateOrder": "DMY", "columns": {"Doc ID": "control_number", "Subject": "title", "Author": "custodians"}}


class DirectApi:
    """The API as the command requests it, with its handlers in this process."""

    def request(self, method: str, path: str, json: Any = None, *, if_match: str | None = None) -> Any:
        """Send a request to the handlers."""
        headers = {"Idempotency-Key": secrets.token_hex(8)} if if_match is None else {"If-Match": if_match}
        return OWNER.call(method, path, json, **headers).json


def create(name: str = "acme", **body: Any) -> dict[str, Any]:
    """A profile with the options, unless the body says otherwise."""
    made = ADA.post("/profiles", {"name": name, "options": OPTIONS, **body})
    assert made.status == 201, made
    return dict(made.json)


def announce(**body: Any) -> dict[str, Any]:
    """An announced import."""
    made = ADA.post("/imports", {"case": "Case", "fileName": "load.csv", **body})
    assert made.status == 201, made
    return dict(made.json)


def upload(world: World, made: dict[str, Any], data: bytes = CSV) -> Reply:
    """Put the file and have it split; the import as it is then."""
    key = f"imports/acme/{made['case']}/{made['uploadId']}/{made['fileName']}"
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=data)
    assert call(start_import.lambda_handler, world.notification_of(key))
    return ADA.get(f"/imports/{made['id']}")


def columns_of(reply: Reply) -> dict[str, tuple[str | None, str]]:
    """Field and reason of every column."""
    return {column["name"]: (column["field"], column["why"]) for column in reply.json["columns"]}


def test_a_profile_is_created_read_replaced_and_deleted(world: World) -> None:
    made = create(headerFingerprint="ab" * 32)
    path = f"/profiles/{made['id']}"
    assert (made["name"], made["version"], made["createdBy"]) == ("acme", 1, "ada")
    assert made["headerFingerprint"] == "ab" * 32
    assert made["options"]["columns"] == OPTIONS["columns"]
    read = ADA.get(path)
    assert (read.headers["etag"], read.json) == ('"1"', made)
    change = {"name": "renamed", "options": {"delimiter": "pipe"}}
    replaced = ADA.call("PUT", path, change, **{"If-Match": '"1"'})
    assert (replaced.status, replaced.json["version"], replaced.json["name"]) == (200, 2, "renamed")
    assert (replaced.json["options"]["columns"], replaced.json["headerFingerprint"]) == ({}, None)
    assert replaced.json["updatedAt"] > made["updatedAt"]
    assert ADA.call("DELETE", path, **{"If-Match": '"2"'}).status == 200
    assert ADA.get(path).status == 404


def test_a_change_applies_to_the_version_that_was_seen_alone(world: World) -> None:
    path = f"/profiles/{create()['id']}"
    for method, body in (("PUT", {"name": "acme"}), ("DELETE", None)):
        assert ADA.call(method, path, body).problem == "precondition-missing"
        stale = ADA.call(method, path, body, **{"If-Match": '"7"'})
        assert (stale.status, stale.problem, stale.json["currentVersion"]) == (412, "stale-version", 1)
    assert ADA.call("PUT", path, {"name": "acme"}, **{"If-Match": '"1"'}).json["version"] == 2
    assert ADA.call("PUT", path, {"name": "acme"}, **{"If-Match": "*"}).json["version"] == 3


def test_a_name_is_that_of_one_profile(world: World) -> None:
    create("acme")
    other = create("Acme")
    assert ADA.post("/profiles", {"name": "acme"}).problem == "name-taken"
    taken = ADA.call("PUT", f"/profiles/{other['id']}", {"name": "acme"}, **{"If-Match": '"1"'})
    assert (taken.status, taken.problem) == (409, "name-taken")
    assert world.query("SELECT name, version FROM import_profiles ORDER BY name") == [("Acme", 1), ("acme", 1)]


def test_a_repeated_request_has_no_second_effect(world: World) -> None:
    first, again = (ADA.post("/profiles", {"name": "acme"}, key="k") for _ in range(2))
    assert (first.status, again.is_replay, again.json) == (201, True, first.json)
    keyed = {"If-Match": '"1"', "Idempotency-Key": "change"}
    changes = [ADA.call("PUT", f"/profiles/{first.json['id']}", {"name": "b"}, **keyed) for _ in range(2)]
    assert [each.json["version"] for each in changes] == [2, 2]


def test_profiles_are_listed_in_pages_by_name_and_by_header(world: World) -> None:
    for name in ("b", "a", "c"):
        create(name, headerFingerprint=("0" if name == "b" else "1") * 64)
    first = ADA.get("/profiles?limit=2").json
    second = ADA.get(f"/profiles?limit=2&after={first['next']}").json
    assert [each["name"] for each in first["items"] + second["items"]] == ["a", "b", "c"]
    assert second["next"] is None
    assert [each["name"] for each in ADA.get("/profiles?name=c").json["items"]] == ["c"]
    found = ADA.get(f"/profiles?headerFingerprint={'1' * 64}").json["items"]
    assert [each["name"] for each in found] == ["a", "c"]
    assert STRANGER.get("/profiles").json["items"] == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"name": "x", "options": {"delimiter": "nonsense"}}, "delimiter"),
        ({"name": "x", "options": {"columns": {"A": "no_field"}}}, "no_field"),
        ({"name": "x", "options": {"profile": {}}}, "options"),
        ({"name": " x"}, "name"),
        ({"name": "x", "headerFingerprint": "xyz"}, "headerFingerprint"),
    ],
)
def test_invalid_options_are_refused_with_the_member(world: World, body: dict[str, Any], detail: str) -> None:
    refused = ADA.post("/profiles", body)
    assert (refused.status, refused.problem) == (400, "invalid-request")
    assert detail in json.dumps(refused.json)


def test_an_import_copies_its_profile_and_later_changes_do_not_matter(world: World) -> None:
    profile = create()
    made = announce(profile="acme")
    change = {"name": "acme", "options": {"columns": {"Nope": "title"}}}
    assert ADA.call("PUT", f"/profiles/{profile['id']}", change, **{"If-Match": '"1"'}).status == 200
    assert ADA.call("DELETE", f"/profiles/{profile['id']}", **{"If-Match": '"2"'}).status == 200
    found = upload(world, made)
    assert (found.json["profile"], found.json["status"]) == ({"name": "acme", "version": 1}, "running")
    assert columns_of(found)["Subject"] == ("title", "profile")
    assert world.query("SELECT date_orders FROM imports") == [('{"document_date": "DMY"}',)]


def test_options_beside_a_profile_win_member_by_member_and_column_by_column(world: World) -> None:
    create(options={**OPTIONS, "delimiter": "pipe", "newline": "none"})
    given = {"delimiter": "comma", "columns": {"4": "tags", "subject": "property", "Written": "title"}}
    found = upload(world, announce(profile="acme", options=given))
    assert found.json["failureCode"] is None
    assert columns_of(found) == {
        "Doc ID": ("control_number", "profile"),
        "Subject": (None, "given"),
        "Written": ("title", "given"),
        "Author": ("tags", "given"),
    }


def test_a_file_that_lacks_columns_of_the_profile_is_refused_with_their_names(world: World) -> None:
    create(options={"columns": {"Doc ID": "control_number", "Nope": "title", "Nor this": "property", "9": "tags"}})
    found = upload(world, announce(profile="acme")).json
    assert (found["status"], found["failureCode"], found["rowsSeen"]) == ("failed", "PROFILE_MISMATCH", 0)
    assert "'acme' (version 1) has columns that the file lacks: Nope, Nor this, 9." in found["failureMessage"]
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def test_a_profile_that_the_tenant_does_not_have_starts_nothing(world: World) -> None:
    create()
    body = {"case": "Case", "fileName": "load.csv", "profile": "acme"}
    assert STRANGER.post("/imports", body).problem == "not-found"
    assert ADA.post("/imports", {**body, "profile": "ACME"}).problem == "not-found"
    contradiction = ADA.post("/imports", {**body, "options": {"cells": 3}})
    assert (contradiction.status, "cells" in contradiction.json["detail"]) == (400, True)
    assert world.query("SELECT COUNT(*) FROM imports") == [(0,)]


def test_a_profile_made_of_an_import_reads_the_next_file_in_the_same_way(world: World) -> None:
    first = upload(world, announce(options=OPTIONS))
    made = create("of import", options={"newline": "none"}, importId=first.json["id"])
    assert made["options"]["columns"] == OPTIONS["columns"]
    assert (made["options"]["dateOrder"], made["options"]["newline"]) == ("DMY", "none")
    second = upload(world, announce(case="Other", profile="of import"))
    fields = [{name: field for name, (field, _) in columns_of(each).items()} for each in (first, second)]
    assert fields[0] == fields[1]
    suggested = [{"name": "of import", "version": 1}]
    assert ADA.get(f"/imports/{first.json['id']}").json["suggestedProfiles"] == suggested
    assert first.json["profile"] is None


def test_a_profile_cannot_be_made_of_an_import_that_is_not_read_or_of_another_tenant(world: World) -> None:
    made = announce()
    assert ADA.post("/profiles", {"name": "x", "importId": made["id"]}).problem == "wrong-state"
    assert STRANGER.post("/profiles", {"name": "x", "importId": made["id"]}).problem == "not-found"
    both = ADA.post("/profiles", {"name": "x", "importId": made["id"], "options": OPTIONS})
    assert (both.status, "columns" in both.json["detail"]) == (400, True)


def test_an_options_object_brings_its_profile(world: World) -> None:
    profile = {"name": "mine", "version": 4, "columns": {"Doc ID": "control_number", "Subject": "title"}}
    clients.s3().put_object(Bucket=world.bucket, Key="options/acme/Case/u1.json", Body=json.dumps({"profile": profile}))
    clients.s3().put_object(Bucket=world.bucket, Key="imports/acme/Case/u1/load.csv", Body=CSV)
    assert call(start_import.lambda_handler, world.notification_of("imports/acme/Case/u1/load.csv"))
    [(import_id,)] = world.query("SELECT id FROM imports")
    found = ADA.get(f"/imports/{import_id}")
    assert (found.json["profile"], columns_of(found)["Subject"]) == (
        {"name": "mine", "version": 4},
        ("title", "profile"),
    )
    assert ADA.get(f"/imports/{import_id}/preview").json["columns"][1]["why"] == "profile"


def test_a_profile_made_of_a_dropped_file_has_the_options_beside_it_as_they_were_then(world: World) -> None:
    text = b"Control Number,Date Sent\r\nA-1,01/02/2019 10:00\r\n"
    import_id = world.run(text, time_zone="America/New_York", date_order="DMY", user_id="ada", dry_run=True)
    [(key,)] = world.query("SELECT object_key FROM imports")
    clients.s3().put_object(Bucket=world.bucket, Key=build_options_key(key), Body=b'{"delimiter": "tab"}')
    body = {"name": "dropped", "options": {"dateOrder": "MDY"}, "importId": import_id}
    made = OWNER.post("/profiles", body).json
    given = {name: value for name, value in made["options"].items() if value is not None}
    columns = {"Control Number": "control_number", "Date Sent": "date_sent"}
    assert given == {"timeZone": "America/New_York", "dateOrder": "MDY", "header": True, "columns": columns}


def test_a_profile_cannot_be_made_of_options_that_only_an_options_file_can_have(world: World) -> None:
    import_id = world.run(CSV, columns=OPTIONS["columns"], date_order={"document_date": None})
    refused = OWNER.post("/profiles", {"name": "x", "importId": import_id})
    assert (refused.status, "options/date_order" in str(refused.json)) == (400, True), refused


def test_the_command_saves_a_check_as_a_profile_that_imports(world: World) -> None:
    import_id = world.run(CSV, columns=OPTIONS["columns"], dry_run=True)
    given = {"time_zone": "Europe/Berlin"}
    api: Any = DirectApi()
    assert [save_profile(api, "x", import_id, given) for _ in range(2)] == [1, 2]
    [saved] = OWNER.get("/profiles?name=x").json["items"]
    assert saved["options"]["timeZone"] == "Europe/Berlin"


def test_a_preview_shows_the_upload_with_its_options_or_with_others(world: World) -> None:
    create(headerFingerprint=None)
    made = announce(options=OPTIONS)
    path = f"/imports/{made['id']}/preview"
    waiting = ADA.get(path)
    assert (waiting.status, waiting.problem) == (409, "wrong-state")
    details = upload(world, made)
    found = ADA.get(path).json
    assert (found["provisional"], found["bytesRead"], found["size"]) == (False, len(CSV), len(CSV))
    assert (found["detection"]["dateOrder"]["value"], found["detection"]["dateOrder"]["certainty"]) == ("DMY", "given")
    assert [column["field"] for column in found["columns"]] == [each["field"] for each in details.json["columns"]]
    assert found["columns"][3]["samples"][0] == {"text": "Ada;Grace", "value": ["Ada", "Grace"], "code": None}
    columns = quote('{"2": "file_name"}')
    other = ADA.get(f"{path}?delimiter=comma&columns={columns}").json["columns"]
    assert [(column["field"], column["why"]) for column in other][:2] == [
        ("control_number", "given"),
        ("file_name", "given"),
    ]
    by_profile = ADA.get(f"{path}?profile=acme").json["columns"]
    assert [(column["field"], column["why"]) for column in by_profile][1] == ("title", "profile")
    cancelled = ADA.post(f"/imports/{made['id']}/cancel")
    assert (cancelled.status, ADA.get(path).status) == (200, 200)


def test_a_preview_takes_formats_and_separators_and_a_profile_keeps_them(world: World) -> None:
    made = announce()
    upload(world, made, b"Control Number,Date Sent,Custodian\nA-1,37032,Ann|Bob\n")
    path = f"/imports/{made['id']}/preview"
    assert [each["code"] for each in ADA.get(path).json["warnings"]] == ["COLUMN_WITHOUT_EFFECT", "OTHER_SEPARATOR"]
    formats = quote('{"date_sent": "excel"}')
    stated = ADA.get(f"{path}?dateFormat={formats}&multiValueSeparator=pipe").json
    assert (stated["warnings"], stated["columns"][2]["samples"][0]["value"]) == ([], ["Ann", "Bob"])
    assert ADA.get(f"{path}?dateFormat=[]").status == 400
    options = {"dateFormat": {"date_sent": "excel"}, "multiValueSeparator": "|", "nestedSeparator": "/"}
    assert create("signs", options=options)["options"].items() >= options.items()
    assert ADA.get(f"{path}?profile=signs").json["warnings"] == []


def test_a_preview_of_a_file_that_cannot_be_imported_has_the_code(world: World) -> None:
    made = announce()
    assert upload(world, made, b"Foo,Bar\r\n1,2\r\n").json["failureCode"] == "NO_ID_COLUMN"
    path = f"/imports/{made['id']}/preview"
    refused = ADA.get(path)
    assert (refused.status, refused.problem, refused.json["failureCode"]) == (422, "file-refused", "NO_ID_COLUMN")
    assert refused.json["columns"] == ["Foo", "Bar"]
    columns = quote('{"Foo": "control_number"}')
    assert ADA.get(f"{path}?columns={columns}").status == 200
    assert ADA.get(f"{path}?encoding=klingon").json["failureCode"] == "BAD_OPTIONS"
    assert ADA.get(f"{path}?columns=nonsense").problem == "invalid-request"
    assert STRANGER.get(path).problem == "not-found"


def test_a_viewer_previews_and_changes_nothing(world: World) -> None:
    made = announce()
    upload(world, made)
    token = {"authorization": f"Bearer {TOKENS.issue('acme', 'eve', roles=('viewer',))}"}
    assert ADA.call("GET", f"/imports/{made['id']}/preview", **token).status == 200
    refused = ADA.call("POST", "/profiles", {"name": "x"}, **{"Idempotency-Key": "k"}, **token)
    assert (refused.status, refused.problem) == (403, "role-required")
