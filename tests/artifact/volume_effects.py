"""What each function around volumes must have done once its event was sent to it: the effect in MySQL, S3 and SQS."""

from __future__ import annotations

import json

from tests.artifact.event_sender import Sender
from tests.artifact.import_effects import DONE
from tests.integration.volumes.volume_requests import FILES, request, upload, work_messages
from tests.support.application.driver import request_messages


def volumes_api(sender: Sender) -> None:
    """The volume is one of the case, and its files can be declared."""
    answer = sender.send("volumes_api")
    assert answer["statusCode"] == 201, answer
    assert json.loads(answer["body"])["upload"] is None
    found = "SELECT c.name, v.name, v.status FROM volumes v JOIN cases c ON c.id = v.case_id"
    assert sender.world.query(found) == [("Smith v. Müller", "VOL001", "open")]


def process_volume(sender: Sender) -> None:
    """The volume's files are listed, and the import of its load file is requested."""
    volume_id = upload(sender.world, FILES)
    request(volume_id)
    [message] = work_messages()
    assert sender.send("process_volume", **message) == DONE
    assert sender.world.query("SELECT status, files FROM volumes") == [("ready", len(FILES) - 1)]
    [(import_id,)] = sender.world.query("SELECT id FROM imports")
    assert [each["import_id"] for each in request_messages() if "import_id" in each] == [import_id]
