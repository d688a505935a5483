"""Each recorded message ends quietly in a case that is closed, purging or purged, and writes nothing to it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import complete_import
import import_chunk
import process_volume
import start_import
import write_import_report
from tests.support.api.client import Client
from tests.support.application.driver import Handler, World, call
from tests.unit.shell.test_shell_messages import RECORDED, Recorded

# Productions are started by EventBridge and by name, and the relay's wake is of no case.
NOT_OF_A_CASE = {"ProductionMessage", "WakeMessage"}
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("UploadMessage", "ImportMessage", "UndoMessage"), start_import.lambda_handler),
    **dict.fromkeys(("ChunkMessage", "UndoPartMessage", "TaggingMessage"), import_chunk.lambda_handler),
    **dict.fromkeys(("CompletionMessage", "UndoCompletionMessage"), complete_import.lambda_handler),
    **dict.fromkeys(
        ("ListingMessage", "ExpansionMessage", "HashingMessage", "DeletionMessage"), process_volume.lambda_handler
    ),
    **dict.fromkeys(
        ("ImportEndedMessage", "ImportCheckedMessage", "ImportUndoneMessage", "ExportMessage"),
        write_import_report.lambda_handler,
    ),
}
ROWS = "SELECT (SELECT COUNT(*) FROM exhibits), (SELECT COUNT(*) FROM import_chunks), (SELECT COUNT(*) FROM cases)"
CASE = "Smith v. Müller"


def make_work(tenant: Client) -> dict[str, int]:
    """Make work of the case that was cancelled, as a purge leaves it; return its ids by the members of messages."""
    imported = tenant.post("/imports", {"case": CASE, "fileName": "a.dat"}).json["id"]
    volume = tenant.post("/volumes", {"case": CASE, "name": "VOL001"}).json["id"]
    job = tenant.post("/tagging-jobs", {"case": CASE, "query": {}, "add": ["Hot"]}).json["id"]
    export = tenant.post("/exports", {"case": CASE, "kind": "tags", "format": "csv"}).json["id"]
    for path in (f"/imports/{imported}", f"/tagging-jobs/{job}", f"/exports/{export}"):
        assert tenant.post(f"{path}/cancel").status == 200
    ids = {"import_id": imported, "importId": imported}
    return {**ids, "volume_id": volume, "job_id": job, "exportId": export}


def aim(recorded: Recorded, world: World, ids: dict[str, int]) -> dict[str, Any]:
    """The message as it would be about this work."""
    document = recorded.document | {name: value for name, value in ids.items() if name in recorded.document}
    for record in document.get("Records", ()):
        record["s3"]["bucket"]["name"] = world.bucket
        record["s3"]["object"]["versionId"] = None
    return document


def test_every_message_of_a_case_has_a_handler() -> None:
    assert {each.form for each in RECORDED} == HANDLERS.keys() | NOT_OF_A_CASE


@pytest.mark.parametrize("status", ["closed", "purging", "purged"])
def test_recorded_messages_end_quietly(world: World, status: str) -> None:
    ids = make_work(Client("acme"))
    world.query("UPDATE cases SET status = :status", status=status)
    before = world.query(ROWS)
    refused = [
        each.name
        for each in RECORDED
        if each.form in HANDLERS and not call(HANDLERS[each.form], json.loads(json.dumps(aim(each, world, ids))))
    ]
    assert refused == []
    assert world.query(ROWS) == before
    uploads = world.query("SELECT COUNT(*) FROM imports")[0][0] - 1
    assert uploads == (1 if status == "closed" else 0)
