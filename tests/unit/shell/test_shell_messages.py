"""A message that any release has written is read as its class and written again as it was."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from core.errors import DatabaseUnavailableError
from shell.work import redrive
from shell.work.messages import ImportMessage, Message, RedrivableMessage, VolumeMessage
from shell.work.reading import UnknownMessageError, dispatch, read_message

CORPUS = Path(__file__).resolve().parents[3] / "tests" / "corpus" / "0.1.0" / "messages.jsonl"
DELAY_S = 60
# What messages have in common; no message is one of these alone.
BASES = {"RedrivableMessage", "VolumeMessage", "EventMessage"}


class Recorded(NamedTuple):
    """A line of the corpus."""

    name: str
    form: str
    body: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON object."""
        return dict(json.loads(self.body))


RECORDED = [Recorded(*json.loads(line).values()) for line in CORPUS.read_text("utf-8").splitlines()]
REDRIVABLE = [each for each in RECORDED if isinstance(read_message(each.document), RedrivableMessage)]
each_recorded = pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each.name)


def subclasses(form: type[Message]) -> set[str]:
    below = form.__subclasses__()
    return {each.__name__ for each in below}.union(*map(subclasses, below))


@each_recorded
def test_a_recorded_message_is_read_as_its_class_and_written_byte_for_byte(recorded: Recorded) -> None:
    message = read_message(recorded.document)
    assert type(message).__name__ == recorded.form
    assert message.to_json() == recorded.body


def test_every_class_has_a_recorded_message() -> None:
    assert {each.form for each in RECORDED} == subclasses(Message) - BASES


@pytest.mark.parametrize("recorded", REDRIVABLE, ids=lambda each: each.name)
def test_a_message_that_is_sent_back_differs_in_its_redrive_alone(recorded: Recorded) -> None:
    message = read_message(recorded.document)
    assert isinstance(message, RedrivableMessage)
    assert json.loads(message.redriven().to_json()) == {**recorded.document, "redrive": 1}


@pytest.mark.parametrize(
    "document",
    [
        {"secret": "value"},
        {"import_id": "value"},
        {"import_id": 1, "chunk_no": None},
        {"chunk_no": 1},
        {"volume_id": 1, "task": "value", "generation": 1},
        {"volume_id": 1, "task": "hash", "generation": 1},
        {"undo_no": 1, "task": "undo"},
        {"importId": 1},
        ["value"],
        "value",
        None,
    ],
)
def test_what_has_no_known_form_is_refused_without_its_values(document: object) -> None:
    with pytest.raises(UnknownMessageError, match="no known form") as refused:
        read_message(document)
    assert "value" not in str(refused.value)


def test_a_message_goes_to_the_operation_of_its_class() -> None:
    started: list[ImportMessage] = []
    work = dispatch({ImportMessage: started.append, VolumeMessage: pytest.fail})
    work({"import_id": 1, "generation": 2})
    assert started == [ImportMessage(1, 2)]
    with pytest.raises(UnknownMessageError, match="ListingMessage came to a function that has no operation for it"):
        work({"volume_id": 1, "task": "list", "generation": 1})


class Queue:
    """The messages that were sent, with their delays and tenants."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def send(self, url: str, messages: list[Message], delay_s: int, tenant_id: str | None) -> None:
        self.sent += [(url, message, delay_s, tenant_id) for message in messages]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    made = Queue()
    monkeypatch.setattr(redrive, "send_messages", made.send)
    monkeypatch.setattr(redrive, "settings", lambda: SimpleNamespace(redrive_delay_seconds=DELAY_S))
    return made


def test_a_dead_letter_is_sent_back_once_and_then_given_up(queue: Queue) -> None:
    first, again = ImportMessage(1, 2), ImportMessage(1, 2, redrive=1)
    sent = ("queue", again, DELAY_S, "tenant")
    assert redrive.send_back(first, "queue", lambda: "tenant")
    assert queue.sent == [sent]
    assert not redrive.send_back(again, "queue", lambda: "tenant")
    assert queue.sent == [sent]
    assert redrive.send_back(again, "queue", lambda: "tenant", again=True)
    assert queue.sent == [sent] * 2


def test_nothing_is_sent_back_while_the_database_is_down(queue: Queue) -> None:
    def unavailable() -> str:
        raise DatabaseUnavailableError

    with pytest.raises(DatabaseUnavailableError):
        redrive.send_back(ImportMessage(1, 2), "queue", unavailable)
    assert queue.sent == []
