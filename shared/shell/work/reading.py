"""Read the messages that arrive: the class of each, by its members, and the operation of each class."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from core.errors import SettingsError
from shell.work.messages import (
    NEW_TURN,
    ChunkMessage,
    CompletionMessage,
    DeletionMessage,
    Document,
    EventMessage,
    ExpansionMessage,
    ExportMessage,
    HashingMessage,
    ImportCheckedMessage,
    ImportEndedMessage,
    ImportMessage,
    ImportUndoneMessage,
    ListingMessage,
    Message,
    ProductionMessage,
    TaggingMessage,
    UndoCompletionMessage,
    UndoMessage,
    UndoPartMessage,
    UploadMessage,
    WakeMessage,
)

# By the class of a message, what is done with it.
Operations = Mapping[type[Any], Callable[[Any], object]]
# Which members, and which values of members, a message of each class has; the first that fits is its class.
_FORMS: tuple[tuple[set[str], dict[str, str], type[Message]], ...] = (
    ({"undo_no", "chunk_no"}, {}, UndoPartMessage),
    ({"undo_no"}, {"task": "complete_undo"}, UndoCompletionMessage),
    ({"undo_no"}, {}, UndoMessage),
    ({"volume_id"}, {"task": "list"}, ListingMessage),
    ({"volume_id"}, {"task": "expand"}, ExpansionMessage),
    ({"volume_id"}, {"task": "hash"}, HashingMessage),
    ({"volume_id"}, {"task": "delete"}, DeletionMessage),
    ({"job_id"}, {}, TaggingMessage),
    ({"chunk_no"}, {}, ChunkMessage),
    ({"import_id"}, {"task": "complete"}, CompletionMessage),
    ({"import_id"}, {}, ImportMessage),
    ({"productionId"}, {}, ProductionMessage),
    ({"exportId"}, {}, ExportMessage),
    (set(), {"eventType": "import.undone"}, ImportUndoneMessage),
    (set(), {"eventType": "import.checked"}, ImportCheckedMessage),
    ({"importId"}, {}, ImportEndedMessage),
    ({"Records"}, {}, UploadMessage),
    (set(), {"Event": "s3:TestEvent"}, UploadMessage),
    ({"turn"}, {}, WakeMessage),
)


class UnknownMessageError(SettingsError):
    """A message has no known form, or came to a function without an operation for it. Names members, never values.

    Another release may know it, which this one replaced or rolled back: it waits like the messages of an outage, and is
    counted by SettingsErrors, until a release that does is deployed.
    """


def read_message(document: object) -> Message:
    """Return the message that a JSON object is. Raises UnknownMessageError if it has no known form."""
    members = document if isinstance(document, dict) else {type(document).__name__: None}
    try:
        return _find_class(members).read(members)
    except (KeyError, TypeError, ValueError) as wrong:
        # Raised below, so that no value that the error quotes is logged.
        reason = type(wrong).__name__
    raise UnknownMessageError(f"a message has no known form ({reason}); its members are {sorted(map(str, members))}")


def _find_class(document: Document) -> type[Message]:
    if not document:
        return WakeMessage
    for members, values, form in _FORMS:
        if members <= document.keys() and values.items() <= document.items():
            return _check_task(form, document)
    raise KeyError


def _check_task(form: type[Message], document: Document) -> type[Message]:
    """Return the class; raises KeyError if the message has a task that is not one of the class."""
    tasks = [each.default for each in fields(form) if each.name == "task"]
    if issubclass(form, EventMessage) or document.get("task") in (None, *tasks):
        return form
    raise KeyError


def dispatch(operations: Operations) -> Callable[[Document], object]:
    """Return a function that reads a message and calls the operation of its class.

    That raises UnknownMessageError for a message of no known form, and for one whose class has no operation.
    """

    def work(document: Document) -> object:
        message = read_message(document)
        operation = operations.get(type(message))
        if operation is None:
            raise UnknownMessageError(f"{type(message).__name__} came to a function that has no operation for it")
        return operation(message)

    return work


def read_turn(event: Document) -> int:
    """Return the latest turn of an invocation's wakes; NEW_TURN if one of them has none, or without messages."""
    wakes = (WakeMessage.read(json.loads(record["body"])) for record in event.get("Records", ()))
    return max((wake.turn for wake in wakes), default=NEW_TURN)


def has_release_request(event: Document) -> bool:
    """Return whether an operator invoked the relay with `{"releaseDeadLetters": true}`."""
    return event.get("releaseDeadLetters") is True
