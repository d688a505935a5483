"""The messages of this application, a class each: what they name, how they are read and how they are written.

Guaranteed: what a class writes is read as that class again, with the same members in the same order, and members of a
later release are kept in a message that is sent again. A release reads the messages of the one before, which wait in
queues while it is deployed, and that one reads its messages after a rollback: `tests/corpus` has a recorded message of
each form, for ever. So a new member needs a default, which means what messages without it always meant, and a new kind
of work a `task` of its own. `shell.work.reading` chooses the class of a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

# The turn of a wake that `shell.work.reminders` has not sent: later than any other.
NEW_TURN = 2**63 - 1
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """What every message can do. The fields of a subclass are the members, in the order of the JSON."""

    # Members that are not written while they are zero, empty or None.
    OPTIONAL: ClassVar[frozenset[str]] = frozenset()
    # Members that this release does not know, which are written again as they came.
    unknown: Document = field(default_factory=dict, kw_only=True, hash=False, repr=False)

    @classmethod
    def read(cls, document: Document) -> Self:
        """Read a JSON object of this class. Raises TypeError or ValueError for a member that is missing or wrong."""
        known = {each.name: each.init for each in fields(cls) if each.name != "unknown"}
        members = {name: _read_member(document[name]) for name, init in known.items() if init and name in document}
        return cls(**members, unknown={name: document[name] for name in document if name not in known})

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        members = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "unknown"}
        return {name: value for name, value in members.items() if value or name not in self.OPTIONAL} | dict(
            self.unknown
        )

    def to_json(self) -> str:
        """Return the body of the message."""
        return json.dumps(self.as_dict())


def _read_member(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else int(value)


class RedrivableMessage(Message):
    """A message whose dead letter is sent back once; its `redrive` is 1 from then on."""

    # A field of each subclass, at the place that it has in the JSON.
    redrive: int

    def redriven(self) -> Self:
        """Return the message that is sent back."""
        return self.read({**self.as_dict(), "redrive": 1})


@dataclass(frozen=True)
class UploadMessage(RedrivableMessage):
    """A notification of S3, with a record for each upload, or the test event of S3, which has none."""

    document: Document
    redrive: int = 0

    @classmethod
    def read(cls, document: Document) -> Self:
        """Read the notification; what is not of this application is kept as it came."""
        return cls(document, int(document.get("redrive", 0)))

    @property
    def records(self) -> Sequence[Document]:
        """The records; `core.imports.uploads.parse_upload` reads one."""
        return self.document.get("Records", ())  # type: ignore[no-any-return]

    def as_dict(self) -> dict[str, Any]:
        """Return the notification as it came, with the redrive."""
        return {**self.document, "redrive": self.redrive} if self.redrive else dict(self.document)


@dataclass(frozen=True)
class ImportMessage(RedrivableMessage):
    """Has an import split, if that is not done, and its pending work queued.

    `after_chunk` is the last chunk that was queued; `progress` is how far the split had got when the message was sent
    back.
    """

    OPTIONAL = frozenset({"generation", "after_chunk", "redrive", "progress"})
    import_id: int
    generation: int | None = None
    after_chunk: int = 0
    redrive: int = 0
    progress: tuple[int, ...] = ()


@dataclass(frozen=True)
class ChunkMessage(RedrivableMessage):
    """Has a chunk imported."""

    OPTIONAL = frozenset({"generation"})
    import_id: int
    chunk_no: int
    generation: int | None = None
    redrive: int = 0


@dataclass(frozen=True)
class CompletionMessage(RedrivableMessage):
    """Has an import, or its check, completed; `task` tells it from an `ImportMessage` in their dead-letter queue."""

    import_id: int
    generation: int
    task: str = field(default="complete", init=False)
    redrive: int = 0


@dataclass(frozen=True)
class UndoMessage(RedrivableMessage):
    """Has an undo begun or resumed; `after_part` is the last part that was queued."""

    OPTIONAL = frozenset({"after_part", "redrive"})
    import_id: int
    undo_no: int
    generation: int
    task: str = field(default="undo", init=False)
    after_part: int = 0
    redrive: int = 0


@dataclass(frozen=True)
class UndoPartMessage(RedrivableMessage):
    """Has the part of an undo done that a chunk is."""

    import_id: int
    undo_no: int
    generation: int
    chunk_no: int
    redrive: int = 0


@dataclass(frozen=True)
class UndoCompletionMessage(RedrivableMessage):
    """Has an undo completed."""

    import_id: int
    undo_no: int
    generation: int
    task: str = field(default="complete_undo", init=False)
    redrive: int = 0


@dataclass(frozen=True)
class TaggingMessage(RedrivableMessage):
    """Has a tagging job go on; one of another turn than the job's has no effect."""

    job_id: int
    turn: int
    redrive: int = 0


@dataclass(frozen=True)
class VolumeMessage(RedrivableMessage):
    """Requests work on a volume; one of an earlier generation than the volume's has no effect."""

    OPTIONAL = frozenset({"redrive"})
    volume_id: int
    task: str = field(init=False)
    generation: int


@dataclass(frozen=True)
class ListingMessage(VolumeMessage):
    """Has the objects of a volume listed."""

    task: str = field(default="list", init=False)
    redrive: int = 0


@dataclass(frozen=True)
class DeletionMessage(VolumeMessage):
    """Has the next objects of a volume deleted."""

    task: str = field(default="delete", init=False)
    redrive: int = 0


@dataclass(frozen=True)
class ExpansionMessage(VolumeMessage):
    """Has a part of a zip expanded."""

    task: str = field(default="expand", init=False)
    unit_no: int
    redrive: int = 0


@dataclass(frozen=True)
class HashingMessage(VolumeMessage):
    """Has a part of the single files of a volume hashed."""

    task: str = field(default="hash", init=False)
    unit_no: int
    redrive: int = 0


@dataclass(frozen=True)
class EventMessage(Message):
    """An event of the outbox, as SNS delivers it: all of its members are kept."""

    # The members of the JSON that fields are read from.
    MEMBERS: ClassVar[Mapping[str, str]] = MappingProxyType({})
    document: Document

    @classmethod
    def read(cls, document: Document) -> Self:
        """Read what the fields need."""
        numbers: Document = {name: int(document[member]) for name, member in cls.MEMBERS.items()}
        return cls(document, **numbers)

    def as_dict(self) -> dict[str, Any]:
        """Return the event as it came."""
        return dict(self.document)


@dataclass(frozen=True)
class ImportEndedMessage(EventMessage):
    """An import is completed or cancelled."""

    MEMBERS = MappingProxyType({"import_id": "importId", "generation": "generation"})
    import_id: int
    generation: int


@dataclass(frozen=True)
class ImportCheckedMessage(ImportEndedMessage):
    """A check has ended."""


@dataclass(frozen=True)
class ImportUndoneMessage(EventMessage):
    """An undo has ended."""

    MEMBERS = MappingProxyType({"import_id": "importId", "undo_no": "undoNo"})
    import_id: int
    undo_no: int


@dataclass(frozen=True)
class ExportMessage(EventMessage):
    """An export is requested; the same message has its work continued."""

    MEMBERS = MappingProxyType({"export_id": "exportId"})
    export_id: int


@dataclass(frozen=True)
class ProductionMessage(EventMessage):
    """A production is requested; also the input of its execution.

    `checked` is set in a copy that waits for its turn: the production is looked after already.
    """

    MEMBERS = MappingProxyType({"production_id": "productionId", "generation": "generation"})
    production_id: int
    generation: int

    @property
    def checked(self) -> bool:
        """Whether the production is looked after."""
        return bool(self.document.get("checked"))

    def as_checked(self) -> Self:
        """Return the copy."""
        return replace(self, document={**self.document, "checked": True})

    def as_input(self) -> Self:
        """Return the input of an execution, with the tenant if the event has it."""
        kept = ("productionId", "generation", "tenantId")
        return self.read({name: self.document[name] for name in kept if name in self.document})


@dataclass(frozen=True)
class WakeMessage(Message):
    """Has a function look for work that waits; one of `shell.work.reminders` has a turn."""

    turn: int = NEW_TURN

    def as_dict(self) -> dict[str, Any]:
        """Return the turn, or an empty object."""
        return {**({} if self.turn == NEW_TURN else {"turn": self.turn}), **self.unknown}
