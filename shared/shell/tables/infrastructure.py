"""Tables of the coordination primitives: outbox, append destinations, idempotency keys and semaphores."""

from datetime import datetime

from sqlalchemy import BINARY, VARBINARY, BigInteger, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class OutboxEvents(Base):
    """An event, committed with the data that it describes and published later.

    `published` is 0 for a new event, 1 for a published one, 2 for a dead-lettered one, and 3 for one that was leased:
    it is not published yet, but has its `sequence`. A row for the event bus, which names the event as its `source_id`,
    is 4 while it waits, 5 once it is dead-lettered, and 1 once it is published.
    """

    __tablename__ = "outbox_events"
    __table_args__ = (
        Index("ix_outbox_events_unpublished", "published", "id"),
        Index("ix_outbox_events_aggregate", "aggregate_type", "aggregate_id", "published"),
        Index("ix_outbox_events_tenant", "tenant_id", "published", "id"),
    )

    id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, comment="Internal number, and the eventId of the published event"
    )
    aggregate_type: Mapped[str] = mapped_column(
        String(64), comment="The kind of thing that the event is about, such as import or production"
    )
    aggregate_id: Mapped[str] = mapped_column(String(64), comment="The id of that thing")
    event_type: Mapped[str] = mapped_column(String(64), comment="The type of the event, such as import.completed")
    payload: Mapped[str] = mapped_column(Text, comment="Ids, counts and codes, as JSON; never content of documents")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the event was committed (UTC)"
    )
    published: Mapped[int] = mapped_column(
        SmallInteger,
        server_default="0",
        comment="0 new, 1 published, 2 dead-lettered, 3 leased at least once and not published yet",
    )
    lease_token: Mapped[str | None] = mapped_column(
        String(32), comment="The latest lease; NULL before the first and after a failure"
    )
    lease_until: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When that lease, or the pause after a failure, ends (UTC)"
    )
    attempts: Mapped[int] = mapped_column(Integer, server_default="0", comment="How often the event was leased")
    sequence: Mapped[int | None] = mapped_column(
        BigInteger, comment="The order within its aggregate, assigned at the first lease"
    )
    failures: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="How often SNS rejected the event as invalid; after 5 times it is dead-lettered",
    )
    source_id: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="The event that this row publishes to the event bus, outbox_events.id; NULL for SNS",
    )
    tenant_id: Mapped[str | None] = mapped_column(
        String(64), comment="The tenant of an event that was refused for good; NULL for all others"
    )
    refusal: Mapped[str | None] = mapped_column(
        String(64), comment="The error code of the last refusal of such an event; NULL for all others"
    )
    dead_lettered_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When it was refused for good last (UTC); NULL if never, or by an earlier version"
    )


class OutboxState(Base):
    """The single row that publishers lock to lease events, with the last assigned sequence."""

    __tablename__ = "outbox_state"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False, comment="Always 1")
    last_sequence: Mapped[int] = mapped_column(BigInteger, comment="The last sequence that was assigned to an event")


class InsertDestinations(Base):
    """A destination that several writers append to, such as a volume: its lock's id and its next free position.

    Every holder of the lock increments `fencing_token`, and allocates positions only while the token is still its own.
    """

    __tablename__ = "insert_destinations"
    __table_args__ = (
        UniqueConstraint("name", name="uq_insert_destinations_name"),
        UniqueConstraint("advisory_id", name="uq_insert_destinations_advisory"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    name: Mapped[str] = mapped_column(String(255), comment="The name of the destination")
    advisory_id: Mapped[int] = mapped_column(
        BigInteger, comment="A random number from which the name of its lock is built"
    )
    next_position: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="The position of the next document that is appended"
    )
    fencing_token: Mapped[int] = mapped_column(
        BigInteger,
        server_default="0",
        comment="Incremented by every holder of the lock; only the latest holder gets positions",
    )


class IdempotencyKeys(Base):
    """A request with an idempotency key: its owner's claim and, once its effect is committed, its response."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        UniqueConstraint("tenant_id", "route", "idempotency_key", name="uq_idempotency_keys"),
        Index("ix_idempotency_keys_created", "created_at"),
        Index("ix_idempotency_keys_case", "case_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that made the request")
    route: Mapped[str] = mapped_column(String(128), comment="Method and path pattern of the request")
    # Bytes: as text, keys that differ by a space at their end would be one.
    idempotency_key: Mapped[bytes] = mapped_column(VARBINARY(255), comment="The Idempotency-Key header, as bytes")
    fingerprint: Mapped[bytes] = mapped_column(
        BINARY(32), comment="A hash of the request; another request under the same key is refused"
    )
    status: Mapped[str] = mapped_column(
        String(16), comment="in_progress, completed or released (the request failed, and the key is free)"
    )
    owner: Mapped[bytes] = mapped_column(BINARY(16), comment="The worker that holds the claim")
    attempt: Mapped[int] = mapped_column(Integer, comment="How often the key was claimed")
    lease_until: Mapped[datetime] = mapped_column(
        Timestamp, comment="When another worker may take over the claim (UTC)"
    )
    status_code: Mapped[int | None] = mapped_column(SmallInteger, comment="The HTTP status of the response")
    response_headers: Mapped[str | None] = mapped_column(Text, comment="The headers of the response, as JSON")
    response_body: Mapped[str | None] = mapped_column(MEDIUMTEXT, comment="The body of the response")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the key was last claimed (UTC); retention counts from it"
    )
    case_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The case that the response tells of, cases.id; NULL if none, or not known"
    )


class Semaphores(Base):
    """A semaphore, in deployments without Redis."""

    __tablename__ = "semaphores"

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True, comment="SHA-256 of the semaphore's name")
    fencing_token: Mapped[int] = mapped_column(
        BigInteger,
        server_default="0",
        comment="The last fencing token that was issued; each is greater than the one before",
    )


class SemaphoreHolders(Base):
    """A holder of a semaphore's slot, by its token, and when the slot expires."""

    __tablename__ = "semaphore_holders"
    __table_args__ = (Index("ix_semaphore_holders_expires", "expires_at"),)

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True, comment="The semaphore, semaphores.name")
    token: Mapped[bytes] = mapped_column(BINARY(16), primary_key=True, comment="The holder of the slot")
    expires_at: Mapped[datetime] = mapped_column(Timestamp, comment="When the slot expires (UTC)")
