"""What each function around volumes must have done once its event was sent to it: the effect in MySQL, S3 and SQS."""

from __future__ import annotations

import json

from core.caller import Caller
from core.contracts.imports.announcements import NewImport
from core.contracts.imports.uploads import MIN_BYTES_IN_PARTS
from shell.db.session import session
from shell.imports.uploads import create_import
from tests.artifact.event_sender import Sender, logical_id
from tests.artifact.import_effects import DONE
from tests.artifact.volume_requests import put
from tests.integration.volumes.volume_requests import FILES, request, upload, work_messages
from tests.support.application.driver import request_messages

BEGINNING = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\nA-3,three\r\n\r\n"


def volumes_api(sender: Sender) -> None:
    """The volume is one of the case, and its files can be declared."""
    answer = sender.send("volumes_api")
    assert answer["statusCode"] == 201, answer
    assert json.loads(answer["body"])["upload"] is None
    found = "SELECT c.name, v.name, v.status FROM volumes v JOIN cases c ON c.id = v.case_id"
    assert sender.world.query(found) == [("Smith v. Müller", "VOL001", "open")]


def uploads_api(sender: Sender) -> None:
    """The beginning of a file is previewed; of an upload in parts, the part that is there is listed."""
    answer = sender.send("uploads_api")
    assert answer["statusCode"] == 201, answer
    made = json.loads(answer["body"])
    put(made["upload"]["url"], BEGINNING, made["upload"]["headers"])
    assert "A-1" in _get(sender, f"/previews/{made['id']}")
    said = {"case": "Doe v. Acme", "fileName": "a.dat", "size": MIN_BYTES_IN_PARTS, "inParts": True}
    body = NewImport.model_validate(said)
    with session() as transaction:
        pending = create_import(transaction, Caller("acme", "ada"), body)
    [part] = json.loads(_get(sender, f"/imports/{pending.id}/upload"))["upload"]["parts"]
    put(part["url"], bytes(part["size"]), {})
    state = json.loads(_get(sender, f"/imports/{pending.id}/upload"))
    assert [each["size"] for each in state["parts"]] == [MIN_BYTES_IN_PARTS]


def _get(sender: Sender, path: str) -> str:
    event = sender.event("uploads_api", rawPath=path, body=None)
    event["requestContext"]["http"] |= {"method": "GET", "path": path}
    answer = sender.stack.invoke(logical_id("uploads_api"), event)
    assert answer["statusCode"] == 200, answer
    return str(answer["body"])


def process_volume(sender: Sender) -> None:
    """The volume's files are listed, and the import of its load file is requested."""
    volume_id = upload(sender.world, FILES)
    request(volume_id)
    [message] = work_messages()
    assert sender.send("process_volume", **message) == DONE
    assert sender.world.query("SELECT status, files FROM volumes") == [("ready", len(FILES) - 1)]
    [(import_id,)] = sender.world.query("SELECT id FROM imports")
    assert [each["import_id"] for each in request_messages() if "import_id" in each] == [import_id]
