"""Operations: what of a tenant runs, waits and failed, and its events that could not be published. Times are UTC."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from core.contracts.common import ResponseModel, UtcTimestamp

# How many are listed of each kind and state, and of events; one retry takes as many events as RETRIED at most.
LISTED, RETRIED = 100, 1_000
FAILED_DAYS = 14


class WorkKind(StrEnum):
    """What works for a tenant."""

    IMPORT = "import"
    UNDO = "undo"
    VOLUME = "volume"
    EXPORT = "export"
    TAGGING_JOB = "tagging_job"
    PRODUCTION = "production"


class WorkState(StrEnum):
    """Whether it failed, waits for a turn, or runs."""

    FAILED = "failed"
    WAITING = "waiting"
    RUNNING = "running"


class Target(StrEnum):
    """Where an event is published."""

    SNS = "sns"
    BUS = "bus"


class Work(ResponseModel):
    """Something that runs, waits for a turn, or failed."""

    id: int = Field(description="Its id; of an undo, that of the import.")
    status: str = Field(description="Its status, as its own route has it.")
    case_id: int
    case: str = Field(description="The name of the case.")
    name: str | None = Field(description="The name of the file or the volume; null for an export or a tagging job.")
    since: UtcTimestamp = Field(description="Since when it runs or waits, or when it failed.")
    chunks_failed: int = Field(description="Parts of an import that failed in every attempt.")
    code: str | None = Field(description="Why it failed, as a code; null without one.")
    reason: str | None = Field(description="Why it failed, and what to do about it.")
    can_be_retried: bool = Field(
        description="Whether `POST /imports/{importId}/retry` or `POST /productions/{productionId}/retry` goes on."
    )


class WorkGroup(ResponseModel):
    """All of one kind in one state, newest first."""

    kind: WorkKind
    state: WorkState
    total: int
    total_is_lower_bound: bool = Field(description=f"Whether there are more than {LISTED}, which are not counted.")
    items: list[Work] = Field(description=f"At most {LISTED}.")


class DeadLetter(ResponseModel):
    """An event that could not be published, and is kept until it is retried."""

    id: int = Field(description="The `eventId` of the event; of one for the event bus, the number of its row.")
    event_type: str = Field(description="Such as `import.completed`.")
    target: Target = Field(description="The topic of SNS, or the event bus beside it.")
    object_type: str = Field(description="What the event is about, such as `import` or `production`.")
    object_id: str = Field(description="The id of that; of a `chunk`, import and chunk: `12/3`.")
    created_at: UtcTimestamp = Field(description="When the event happened.")
    dead_lettered_at: UtcTimestamp | None = Field(
        description="When it was given up; null if an earlier version did that."
    )
    attempts: int = Field(description="How often it was sent; 0 for the event bus, which does not count that.")
    refusals: int = Field(description="How often it was refused since it was retried last.")
    refusal: str | None = Field(description="The error code of the last refusal; null if an earlier version had it.")


class DeadLetters(ResponseModel):
    """Events that could not be published, newest first."""

    total: int
    total_is_lower_bound: bool = Field(description=f"Whether there are more than {LISTED}, which are not counted.")
    items: list[DeadLetter] = Field(description=f"At most {LISTED}.")


class Operations(ResponseModel):
    """What runs, waits and failed.

    What failed is listed for a while, unless it needs a decision: a production that needs attention, an undo that
    failed in part, chunks that were given up. Imports that wait for a user, such as one that is held, are not listed.
    """

    groups: list[WorkGroup] = Field(description="Those with at least one; failures first.")
    events: DeadLetters
    failed_days: int = Field(description="For how many days other failures are listed.")


class EventsRetried(ResponseModel):
    """How many events are published again, and how many are left."""

    retried: int = Field(description="0 if all of them were retried before.")
    left: int
    left_is_lower_bound: bool = Field(description=f"Whether more than {LISTED} are left, which are not counted.")
