"""Tables of the coordination primitives: outbox, append destinations, idempotency keys and semaphores."""

from datetime import datetime

from sqlalchemy import BINARY, VARBINARY, BigInteger, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class OutboxEvents(Base):
    """An event, committed with the data that it describes and published later.

    `published` is 0 for a new event, 1 for a published one, 2 for a dead-lettered one, and 3 for one that was leased:
    it is not published yet, but has its `sequence`.
    """

    __tablename__ = "outbox_events"
    __table_args__ = (
        Index("ix_outbox_events_unpublished", "published", "id"),
        Index("ix_outbox_events_aggregate", "aggregate_type", "aggregate_id", "published"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    aggregate_type: Mapped[str] = mapped_column(String(64))
    aggregate_id: Mapped[str] = mapped_column(String(64))
    event_type: Mapped[str] = mapped_column(String(64))
    payload: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    published: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(Timestamp)
    attempts: Mapped[int] = mapped_column(Integer, server_default="0")
    sequence: Mapped[int | None] = mapped_column(BigInteger)
    failures: Mapped[int] = mapped_column(Integer, server_default="0")


class OutboxState(Base):
    """The single row that publishers lock to lease events, with the last assigned sequence."""

    __tablename__ = "outbox_state"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    last_sequence: Mapped[int] = mapped_column(BigInteger)


class InsertDestinations(Base):
    """A destination that several writers append to, such as a volume: its lock's id and its next free position.

    Every holder of the lock increments `fencing_token`, and allocates positions only while the token is still its own.
    """

    __tablename__ = "insert_destinations"
    __table_args__ = (
        UniqueConstraint("name", name="uq_insert_destinations_name"),
        UniqueConstraint("advisory_id", name="uq_insert_destinations_advisory"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    advisory_id: Mapped[int] = mapped_column(BigInteger)
    next_position: Mapped[int] = mapped_column(BigInteger, server_default="0")
    fencing_token: Mapped[int] = mapped_column(BigInteger, server_default="0")


class IdempotencyKeys(Base):
    """A request with an idempotency key: its owner's claim and, once its effect is committed, its response."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        UniqueConstraint("tenant_id", "route", "idempotency_key", name="uq_idempotency_keys"),
        Index("ix_idempotency_keys_created", "created_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    route: Mapped[str] = mapped_column(String(128))
    # Bytes: as text, keys that differ by a space at their end would be one.
    idempotency_key: Mapped[bytes] = mapped_column(VARBINARY(255))
    fingerprint: Mapped[bytes] = mapped_column(BINARY(32))
    status: Mapped[str] = mapped_column(String(16))
    owner: Mapped[bytes] = mapped_column(BINARY(16))
    attempt: Mapped[int] = mapped_column(Integer)
    lease_until: Mapped[datetime] = mapped_column(Timestamp)
    status_code: Mapped[int | None] = mapped_column(SmallInteger)
    response_headers: Mapped[str | None] = mapped_column(Text)
    response_body: Mapped[str | None] = mapped_column(MEDIUMTEXT)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)


class Semaphores(Base):
    """A semaphore, in deployments without Redis; `fencing_token` is the last one issued."""

    __tablename__ = "semaphores"

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True)
    fencing_token: Mapped[int] = mapped_column(BigInteger, server_default="0")


class SemaphoreHolders(Base):
    """A holder of a semaphore's slot, by its token, and when the slot expires."""

    __tablename__ = "semaphore_holders"
    __table_args__ = (Index("ix_semaphore_holders_expires", "expires_at"),)

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True)
    token: Mapped[bytes] = mapped_column(BINARY(16), primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
