"""The forms of what one release writes and another reads: samples by this release's code, and how it reads each.

`Form.write` yields a name and a text for each kind; `Form.read` returns what is read from a text, as JSON. Raises
KeyError for a parameter of an event, or a field of a message, of a type that it has no sample of: add one.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import ValidationError

from core import events
from core.codes import FileFailure, WarningCode
from core.contracts.imports.announcements import PendingUpload
from core.contracts.imports.uploads import PendingPreview
from core.contracts.volumes import PendingArchive, PendingFile, PendingFiles, PendingVolume
from core.errors import InvalidInputError
from core.idempotency import KeyedRequest, KeyedResponse
from core.imports.preview_ids import PreviewId, hash_case, parse_preview_id
from core.imports.uploads import build_object_key, build_placeholder_key, parse_upload
from core.pagination import decode_cursor, encode_cursor
from core.statuses import VolumeStatus
from exhibit_ingest.uploads.journal import Entry
from shell.work.messages import EventMessage, Message, RedrivableMessage, UploadMessage, VolumeMessage
from shell.work.reading import read_message

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "events.schema.json").read_text(encoding="utf-8"))
REQUEST = KeyedRequest("acme", "POST /imports", "key", bytes(32))
# What messages have in common; no message is one of these alone.
BASES = {RedrivableMessage, VolumeMessage, EventMessage}
# A value for each annotation of a parameter or field.
VALUES: dict[str, Any] = {
    "int": 1,
    "int | None": 1,
    "str": "acme",
    "str | None": None,
    "dict[str, int]": {"imported": 1},
    "Sequence[str]": ["execution"],
    "tuple[int, ...]": (1, 2),
    "WarningCode | VolumeCode": next(iter(WarningCode)),
}
Samples = Iterator[tuple[str, str]]
# Parameters of events that have a value of a list.
CHOSEN: dict[str, dict[str, Any]] = {
    "import_failed": {"code": FileFailure.NOT_UPLOADED.value},
    "import_completed": {"status": "completed"},
    "import_undone": {"status": "undone"},
    "case_purged": {"sha256": "0" * 64},
}


@dataclass(frozen=True)
class Form:
    """A form, whose lines are in the file of that name."""

    name: str
    write: Callable[[], Samples]
    read: Callable[[str], Any]


def message_classes(form: type[Message] = Message) -> set[type[Message]]:
    """Return all classes of messages but those that others share."""
    below = {each for subclass in form.__subclasses__() for each in (subclass, *message_classes(subclass))}
    return below - BASES


def _write_messages() -> Samples:
    """Yield a message of each class with all its members, as it is sent first, and again."""
    for form in sorted(message_classes(), key=lambda each: each.__name__):
        if issubclass(form, (UploadMessage, EventMessage)):
            continue
        names = [each for each in fields(form) if each.init and each.name not in {"unknown", "redrive"}]
        made = form(**{each.name: VALUES[str(each.type)] for each in names})
        yield form.__name__, made.to_json()
        if isinstance(made, RedrivableMessage):
            yield f"{form.__name__} again", made.redriven().to_json()


def _read_message(text: str) -> Any:
    message = read_message(json.loads(text))
    return {"class": type(message).__name__, "writes": message.as_dict()}


def _write_events() -> Samples:
    for name, build in inspect.getmembers(events, inspect.isfunction):
        if build.__module__ == events.__name__ and not name.startswith("_"):
            parameters = inspect.signature(build).parameters.values()
            given = {each.name: VALUES[str(each.annotation)] for each in parameters} | CHOSEN.get(name, {})
            event = build(**given)
            yield name, json.dumps({**event.payload, "tenantId": event.tenant_id, "eventType": event.event_type})


def _read_event(text: str) -> Any:
    """Return the event. Raises ValidationError unless it is one by the schema that subscribers have."""
    event = json.loads(text)
    schema = {"$schema": SCHEMA["$schema"], **SCHEMA["$defs"][event["eventType"]]}
    Draft202012Validator(schema).validate({**event, "eventId": 1, "sequence": 1})
    return event


def _write_cursors() -> Samples:
    for name, values in (("number", (7,)), ("numbers", (7, 2**53)), ("text", ("Müller",)), ("both", ("a", 1))):
        yield name, encode_cursor(*values)


def _read_cursor(text: str) -> Any:
    """Return the values by the only kinds that fit."""
    for kinds in ((int,), (str,), (int, int), (str, int)):
        try:
            return list(decode_cursor(text, kinds))
        except InvalidInputError:
            continue
    return None


def _write_responses() -> Samples:
    yield "response", KeyedResponse(201, '{"id": 1}', {"Location": "/imports/1"}).to_record(REQUEST)


def _read_response(text: str) -> Any:
    response = KeyedResponse.from_record(text, REQUEST)
    return response and asdict(response)


def _write_journal() -> Samples:
    yield "announced", json.dumps(asdict(Entry("key", name="load.dat")))
    volume = Entry("key", 1, "2026-11-27T00:00:00Z", "VOL001", "hash", "act", 1.0, 2, [1], [2, 3])
    yield "requested", json.dumps(asdict(volume))


def _write_uploads() -> Samples:
    """Yield what requests for URLs have stored, a key that a URL was signed for, and the id of a preview."""
    key = build_object_key("acme", "Müller v. Süd", "upload", "load file.dat")
    of_case: dict[str, Any] = {"id": 1, "case": "Müller v. Süd", "case_id": 2}
    parts: dict[str, Any] = {"size": 7, "multipart_id": "parts", "part_bytes": 5}
    place: dict[str, Any] = {"bucket": "bucket", "object_key": key, **parts}
    own: dict[str, Any] = {"file_name": "load file.dat", "upload_id": "upload", "started_at": datetime(2026, 11, 27)}
    volume: dict[str, Any] = {"status": VolumeStatus.OPEN, "name": "VOL001", "prefix": "volumes/"}
    file = PendingFile(path="NATIVES/1.pdf", sha256="0" * 64, **parts)
    preview = PreviewId("t" * 32, 7, hash_case("Müller v. Süd"))
    stored = (
        PendingUpload(**of_case, **place, **own),
        PendingVolume(**of_case, **volume, archive=PendingArchive(**place)),
        PendingFiles(bucket="bucket", prefix="volumes/", items=[file], remaining=1),
        PendingPreview(id=str(preview), bytes=7, bucket="bucket", object_key=preview.build_key("acme")),
    )
    yield from ((type(each).__name__, each.model_dump_json(by_alias=True)) for each in stored)
    yield "key", quote_plus(key, safe="/")
    yield "preview", str(preview)


def _read_upload(text: str) -> Any:
    """Return what is read of a stored part, by the only class that it fits; of a key, and of the id of a preview."""
    if preview := parse_preview_id(text):
        return {**preview._asdict(), "key": preview.build_key("acme")}
    if not text.startswith("{"):
        record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "bucket"}, "object": {"key": text}}}
        upload = parse_upload(record)
        assert upload
        keys = {"upload_key": upload.upload_key.hex(), "awaited": build_placeholder_key(upload.upload_id).hex()}
        return asdict(upload) | keys
    for form in (PendingUpload, PendingVolume, PendingFiles, PendingPreview):
        try:
            return form.model_validate_json(text).model_dump(mode="json")
        except ValidationError:
            continue
    return None


FORMS = (
    Form("messages", _write_messages, _read_message),
    Form("events", _write_events, _read_event),
    Form("cursors", _write_cursors, _read_cursor),
    Form("responses", _write_responses, _read_response),
    Form("uploads", _write_uploads, _read_upload),
    Form("journal", _write_journal, lambda text: asdict(Entry(**json.loads(text)))),
)
