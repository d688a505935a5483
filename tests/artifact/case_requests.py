"""What the built functions do for a case whose purge has begun."""

from __future__ import annotations

from tests.artifact.event_sender import Sender
from tests.artifact.import_effects import DONE, THREE
from tests.support.application.driver import sqs_event


def what_arrives_for_a_purged_case_is_deleted(sender: Sender) -> None:
    """The version of the object is deleted, and no import is there."""
    world = sender.world
    upload = world.upload(THREE, case="Purged")
    world.query("INSERT INTO cases (tenant_id, name, status) VALUES ('tenant', 'Purged', 'purging')")
    assert sender.stack.invoke("StartImportFunction", sqs_event(upload)) == DONE
    assert world.query("SELECT COUNT(*) FROM imports") == [(0,)]
    assert world.query("SELECT kind FROM case_changes") == [("upload_refused",)]
