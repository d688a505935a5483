"""Productions that are undone, looked up and cancelled by the built functions."""

from __future__ import annotations

from shell.aws import clients
from tests.artifact import document_effects
from tests.artifact.event_sender import Api, Sender
from tests.artifact.import_effects import DONE
from tests.support.productions.runs import ask, put_documents, status_of


def a_production_with_an_archived_file_is_undone(sender: Sender) -> None:
    """The file is there when it is looked for, and cannot be copied; what was copied before is deleted."""
    put_documents(sender.world, ["A", "B"])
    key = "files/tenant/Case/TEXT/B.txt"
    clients.s3().put_object(Bucket=sender.world.bucket, Key=key, Body=b"text", StorageClass="GLACIER")
    production = ask()
    assert sender.send("start_production", productionId=production) == DONE
    document_effects.wait_for_executions(sender)
    assert status_of(sender.world, production) == "cancelled", status_of(sender.world, production)


def a_production_is_looked_up_that_nothing_was_heard_of(sender: Sender) -> None:
    """Lambda says that its execution has ended, and it is requested again."""
    put_documents(sender.world, ["A"])
    first = ask()
    assert sender.send("start_production", productionId=first) == DONE
    document_effects.wait_for_executions(sender)
    second = ask(prefix="OTHER")
    [(arn,)] = sender.world.query("SELECT execution_arn FROM productions WHERE id = :p", p=first)
    old = "UPDATE productions SET execution_arn = :arn, updated_at = NOW(6) - INTERVAL 1 DAY WHERE id = :p"
    sender.world.query(old, arn=arn, p=second)
    assert sender.send("resume_productions")["resumed"] == 1


def a_production_is_cancelled(sender: Sender) -> None:
    """Through the API."""
    put_documents(sender.world, ["A"])
    Api(sender.stack).call("POST", f"/productions/{ask()}/cancel")
