"""Every event has a schema in docs/events.schema.json, and what is published is valid under it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]

from core import events
from core.codes import FileFailure, WarningCode
from core.events import Event
from shell import sns
from shell.db.session import session
from shell.outbox.relay import publish_pending
from shell.outbox.writer import append_events, caused_by
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, matter
from tests.support.productions.runs import execute

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/events.schema.json").read_text(encoding="utf-8"))
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
# One of each function of core.events.
EVENTS = {
    "import_started": events.import_started(1, "acme", 10, 2),
    "import_failed": events.import_failed(1, "acme", FileFailure.NOT_UPLOADED.value),
    "import_completed": events.import_completed(1, "acme", "completed", 1, {"imported": 10}),
    "import_checked": events.import_checked(1, "acme", 1, {"imported": 10}),
    "import_cancelled": events.import_cancelled(1, "acme", 1, {"imported": 0}),
    "import_retried": events.import_retried(1, "acme", 2, 0),
    "import_undone": events.import_undone(1, "acme", 1, "undone", {"removed": 10}),
    "upload_refused": events.upload_refused("", "imports/x", "the key names no tenant"),
    "rows_changed": events.rows_changed(1, "acme", 0, next(iter(WarningCode)), 2, 3),
    "export_requested": events.export_requested(1, "acme"),
    "production_requested": events.production_requested(1, "acme", 1),
    "production_confirmed": events.production_confirmed(1, "acme", 3, 1, 3),
    "production_cancelled": events.production_cancelled(1, "acme", None, 3),
    "production_needs_attention": events.production_needs_attention(1, "acme", ["execution"]),
    "case_purged": events.case_purged(1, "acme", "0" * 64),
}
DIRECT = {"production.available"}


class Topic:
    """SNS, which keeps the bodies."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def publish_batch(self, *, TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:
        """Accept all."""
        self.bodies += [json.loads(each["Message"]) for each in PublishBatchRequestEntries]
        return {"Successful": [{"Id": each["Id"]} for each in PublishBatchRequestEntries]}


@pytest.fixture
def bodies(world: World, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The bodies of what is published."""
    topic = Topic()
    monkeypatch.setattr(sns, "sns", lambda: topic)
    return topic.bodies


def check(body: dict[str, Any]) -> None:
    """Raise ValidationError unless the body is one of its event type."""
    schema = {"$schema": SCHEMA["$schema"], **SCHEMA["$defs"][body["eventType"]]}
    Draft202012Validator(schema).validate(body)


def test_each_event_has_a_schema_and_each_schema_an_event() -> None:
    made = {name for name, each in inspect.getmembers(events, inspect.isfunction) if not name.startswith("_")}
    assert made - {"dataclass"} == EVENTS.keys()
    assert {each.event_type for each in EVENTS.values()} | DIRECT == SCHEMA["$defs"].keys()
    Draft202012Validator.check_schema(SCHEMA)
    assert [each["$ref"].rpartition("/")[2] for each in SCHEMA["oneOf"]] == list(SCHEMA["$defs"])


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_what_is_published_is_valid_and_nothing_else_is(event: Event, bodies: list[dict[str, Any]]) -> None:
    with caused_by(TRACE), session() as transaction:
        append_events(transaction, [event])
    publish_pending()
    [body] = bodies
    check(body)
    assert body["traceparent"] == TRACE
    for wrong in ({**body, "extra": 1}, {name: body[name] for name in body if name != next(iter(event.payload))}):
        with pytest.raises(ValidationError):
            check(wrong)


@pytest.mark.parametrize("sent", [None, "", "00-0-0-0", TRACE.upper(), TRACE.replace("00-", "01-", 1), f"{TRACE}-x"])
def test_a_trace_context_of_another_form_is_left_out(sent: str | None, bodies: list[dict[str, Any]]) -> None:
    with caused_by(sent), session() as transaction:
        append_events(transaction, [EVENTS["import_failed"]])
    publish_pending()
    assert "traceparent" not in bodies[0]


def test_a_request_and_a_production_publish_valid_events(world: World, bodies: list[dict[str, Any]]) -> None:
    acme: Matter = matter(world, 2)
    whole = {"case": "Smith v. Jones", "volume": "VOL001", "prefix": "SMITH", "digits": 7, "query": {}}
    made = Client(acme.client.tenant, acme.client.user).call(
        "POST", "/productions", whole, **{"Idempotency-Key": "k", "traceparent": TRACE}
    )
    assert made.status == 202
    execute(made.json["id"])
    publish_pending()
    assert {body["eventType"] for body in bodies} == {
        *("production.requested", "production.confirmed", "production.available"),
    }
    for body in bodies:
        check(body)
    assert [body["eventType"] for body in bodies if body.get("traceparent") == TRACE] == ["production.requested"]
