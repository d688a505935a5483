"""An export is killed at each step, cancelled, and requested by others, and has one file with each row once."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from botocore.exceptions import ClientError
from sqlalchemy import text

from shell.aws import clients
from shell.db.session import session
from shell.exports import objects, worker
from shell.exports.objects import UploadLostError
from tests.integration.exports.conftest import Exporter
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.faults.step_hooks import KilledError, at_every_step

NUMBERS = [f"A-{number}" for number in range(5)]


@pytest.fixture
def case(world: World) -> int:
    """A case with five documents."""
    made = get_or_create_case(world, "Case", "tenant")
    put_exhibits(world, made, NUMBERS)
    return made


def written(body: bytes) -> list[str]:
    return [json.loads(line)["controlNumber"] for line in body.splitlines()]


def acts(world: World) -> list[str]:
    return [row[0] for row in world.query("SELECT action FROM activities WHERE action LIKE 'export.%' ORDER BY id")]


def kill_at(world: World, step: int, after: bool, export_id: int) -> bool:
    """Work until a step, of which each statement and COMMIT is one; False if there is none with this number."""
    reached: list[int] = []

    def kill(number: int) -> None:
        if number == step and not reached:
            reached.append(number)
            raise KilledError

    hook = {"after" if after else "before": kill}
    with at_every_step(world, **hook):
        try:
            while not worker.write_next_part(export_id, lambda: True):
                pass
        except KilledError:
            pass
    # The server rolls a killed worker back on its own; this waits until it has.
    world.query("SELECT part_no FROM export_parts WHERE export_id = :export_id FOR UPDATE", export_id=export_id)
    return bool(reached)


@pytest.mark.slow
@pytest.mark.usefixtures("case", "small_parts")
@pytest.mark.parametrize("is_carried", [False, True], ids=["uploaded", "carried"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_worker_is_killed_at_each_step(
    exporter: Exporter, world: World, after: bool, is_carried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every second statement and COMMIT, one is the last of its worker; each time the next worker ends the work."""
    if is_carried:
        monkeypatch.setattr(worker, "LEAST_BYTES", 10**6)
    steps = range(1, 200)
    for step in steps:
        made = exporter.request("documents", "jsonl", columns=["controlNumber"])
        was_killed = kill_at(world, step, after, made["id"])
        assert exporter.work(made["id"])
        assert written(exporter.file(made["id"])) == NUMBERS
        state = exporter.get(made["id"])
        assert (state["status"], state["documents"], state["rows"]) == ("completed", 5, 5)
        assert state["size"] == len(exporter.file(made["id"]))
        if not was_killed and not after:
            break
        if after and step > 60:
            break
    assert step > 20
    assert sorted(set(acts(world))) == ["export.completed", "export.requested"]
    assert acts(world).count("export.completed") == acts(world).count("export.requested") == step


@pytest.mark.usefixtures("case", "small_parts")
def test_a_kill_between_the_storage_and_the_commit_repeats_the_step(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    for name in ("upload_part", "complete_upload"):
        original, calls = getattr(worker, name), list[int]()

        def killed(*given: Any, original: Any = original, calls: list[int] = calls) -> Any:
            result = original(*given)
            calls.append(1)
            if len(calls) == 1:
                raise KilledError
            return result

        monkeypatch.setattr(worker, name, killed)
        with pytest.raises(KilledError):
            exporter.work(made["id"])
    assert exporter.work(made["id"])
    assert written(exporter.file(made["id"])) == NUMBERS
    assert exporter.get(made["id"])["status"] == "completed"


@pytest.mark.usefixtures("case", "small_parts")
def test_a_second_worker_waits_for_the_first(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: without the lock the second worker writes the same part."""
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    lock = worker._LOCK
    with session() as first:
        first.execute(lock, {"export_id": made["id"]})
        assert not exporter.work(made["id"])
        assert exporter.get(made["id"])["documents"] == 0
        monkeypatch.setattr(worker, "_LOCK", text("SELECT 0 FROM export_parts WHERE export_id = :export_id"))
        assert exporter.work(made["id"])
        assert exporter.get(made["id"])["documents"] == 5


@pytest.mark.usefixtures("case", "small_parts")
def test_a_turn_ends_and_the_work_goes_to_the_end_of_the_queue(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "TURN_S", 0)
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    seen = []
    assert exporter.work(made["id"])
    while messages := exporter.messages():
        [message] = messages
        seen.append(exporter.get(made["id"])["documents"])
        assert exporter.work(message["exportId"])
    assert seen == [0, 1, 2, 3, 4, 5, 5]
    assert exporter.get(made["id"])["status"] == "completed"


@pytest.mark.usefixtures("small_parts")
def test_what_is_imported_meanwhile_is_left_out(
    exporter: Exporter, world: World, case: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exporter.request("documents", "jsonl", columns=["controlNumber", "title"])
    monkeypatch.setattr(worker, "TURN_S", 0)
    assert exporter.work(made["id"])
    assert exporter.work(made["id"])
    put_exhibits(world, case, ["A-2b", "A-9"])
    world.query("UPDATE exhibits SET title = 'changed' WHERE control_number IN ('A-0', 'A-4')")
    monkeypatch.setattr(worker, "TURN_S", 60)
    assert exporter.work(made["id"])
    rows = [json.loads(line) for line in exporter.file(made["id"]).splitlines()]
    assert [row["controlNumber"] for row in rows] == NUMBERS
    assert [row["title"] for row in rows] == [None] * 4 + ["changed"], "a part shows the state when it was written"


@pytest.mark.usefixtures("small_parts")
def test_a_part_shows_one_instant(exporter: Exporter, world: World, case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag that commits while a part is read is not in it; the negative control reads every statement anew."""
    monkeypatch.setattr(worker, "PART_BYTES", 10**6)
    original = worker._read

    def tag(*given: Any) -> Any:
        world.query("INSERT INTO tags (case_id, name) VALUES (:case, UUID())", case=case)
        world.query(
            "INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT e.id, t.id, 'ada' FROM exhibits AS e "
            "JOIN tags AS t WHERE e.control_number = 'A-4' AND t.id = (SELECT MAX(id) FROM tags)"
        )
        return original(*given)

    monkeypatch.setattr(worker, "_read", tag)
    before = exporter.run("documents", "jsonl", columns=["tags"]).splitlines()
    assert [json.loads(line)["tags"] for line in before] == [[]] * 5
    monkeypatch.setattr(worker, "_ONE_INSTANT", text("SELECT 1"))
    after = exporter.run("documents", "jsonl", columns=["tags"]).splitlines()
    assert len(json.loads(after[-1])["tags"]) > 3


@pytest.mark.usefixtures("case", "small_parts")
def test_a_cancelled_export_has_no_file(exporter: Exporter, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    original = objects.upload_part
    made = exporter.request("documents")

    def cancelled(*given: Any) -> Any:
        assert exporter.client.post(f"/exports/{made['id']}/cancel").json["status"] == "cancelled"
        return original(*given)

    monkeypatch.setattr(worker, "upload_part", cancelled)
    assert exporter.work(made["id"])
    assert exporter.client.post(f"/exports/{made['id']}/cancel").status == 200
    assert exporter.client.get(f"/exports/{made['id']}/file").problem == "wrong-state"
    state = exporter.get(made["id"])
    assert (state["status"], state["documents"], state["expiresAt"]) == ("cancelled", 0, None)
    assert exporter.work(made["id"]), "a late message"
    assert acts(world) == ["export.requested", "export.cancelled"]
    uploads = clients.s3().list_multipart_uploads(Bucket=world.bucket).get("Uploads", [])
    assert not [each for each in uploads if f"/{made['id']}/" in each["Key"]]
    assert "Contents" not in clients.s3().list_objects_v2(Bucket=world.bucket, Prefix="exports/")


@pytest.mark.usefixtures("case")
def test_a_completed_export_is_not_cancelled_and_expires(exporter: Exporter, world: World) -> None:
    made = exporter.request("documents")
    assert exporter.client.get(f"/exports/{made['id']}/file").status == 409
    assert exporter.work(made["id"])
    assert exporter.client.post(f"/exports/{made['id']}/cancel").problem == "wrong-state"
    found = exporter.client.get(f"/exports/{made['id']}/file").json
    assert (found["fileName"], found["expiresInSeconds"]) == (f"Case - export {made['id']} - documents.csv", 3600)
    with urllib.request.urlopen(found["url"]) as answer:  # noqa: S310 - a URL of S3
        assert len(answer.read()) == found["size"]
        assert answer.headers["content-disposition"].startswith("attachment")
    world.query("UPDATE exports SET started_at = started_at - INTERVAL 7 DAY")
    assert exporter.get(made["id"])["status"] == "expired"
    assert exporter.client.get(f"/exports/{made['id']}/file").status == 409


class LostUploads:
    """S3, which has deleted every upload; moto has no answer to that."""

    def upload_part(self, **_given: Any) -> None:
        """Refuse."""
        raise ClientError({"Error": {"Code": "NoSuchUpload"}}, "UploadPart")

    def __getattr__(self, name: str) -> Any:
        return getattr(clients.s3(), name)


@pytest.mark.usefixtures("case")
def test_an_upload_that_storage_deleted_fails_the_export(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    made = exporter.request("documents")
    monkeypatch.setattr(objects, "s3", LostUploads)
    assert exporter.work(made["id"])
    state = exporter.get(made["id"])
    assert (state["status"], state["reason"]) == ("failed", UploadLostError.__doc__)
    assert acts(exporter.world) == ["export.requested", "export.failed"]


@pytest.mark.usefixtures("case")
def test_others_find_no_export_and_no_case(exporter: Exporter) -> None:
    made = exporter.request("documents")
    assert exporter.work(made["id"])
    for other in (Client("other", "eve"), Client("tenant", "bob", cases=("Another",))):
        for route in ("", "/file"):
            assert other.get(f"/exports/{made['id']}{route}").status == 404
        assert other.post(f"/exports/{made['id']}/cancel").status == 404
        assert other.get("/exports").json["items"] == []
        assert other.post("/exports", {"case": "Case", "kind": "tags", "format": "csv"}).status == 404
        assert other.post("/exports", {"caseId": made["caseId"], "kind": "tags", "format": "csv"}).status == 404


@pytest.mark.usefixtures("case")
def test_a_request_takes_effect_once_and_a_wrong_one_never(exporter: Exporter, world: World) -> None:
    body = {"case": "Case", "kind": "documents", "format": "jsonl"}
    once, again = (exporter.client.post("/exports", body, key="k") for _ in range(2))
    assert (once.status, again.status, again.is_replay) == (202, 202, True)
    assert once.headers["location"] == f"/exports/{once.json['id']}"
    for wrong in (
        {"columns": ["title", "path"]},
        {"columns": ["title", "title"]},
        {"format": "parquet"},
        {"caseId": 1},
    ):
        reply = exporter.client.post("/exports", {**body, **wrong})
        assert reply.status in (400, 422), reply
        if "columns" in wrong:
            [problem] = reply.json["errors"]
            assert (
                "column 2 is unknown or repeated; the columns of documents are id, controlNumber" in problem["message"]
            )
    assert len(world.query("SELECT id FROM exports")) == len(acts(world)) == 1
    assert [json.loads(row[0])["exportId"] for row in world.query("SELECT payload FROM outbox_events")] == [
        once.json["id"]
    ]
