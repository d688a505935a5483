"""Every error that this application raises on purpose, by what its caller can do about it.

    ExhibitIngestError
    ├── InvalidInputError           the input is wrong: reject it (HTTP 400), never retry
    │   ├── UploadRefusedError      an object that is no upload of ours: nothing to record it against
    │   ├── FileRefusedError        a load file that cannot be imported at all; carries a code
    │   ├── ForbiddenError          the caller's token does not say for whom it speaks (HTTP 403)
    │   ├── NotFoundError           no such thing in the caller's tenant (HTTP 404)
    │   ├── KeyReusedError          an idempotency key that came with another request (HTTP 422)
    │   ├── PreconditionMissingError  a change without If-Match (HTTP 428)
    │   ├── NothingToProduceError   a production's selection matches no exhibit
    │   └── FilesMissingError       files of a production that cannot be copied
    ├── ConflictError               somebody else was faster: replay the whole unit, then HTTP 409
    │   ├── LockNotAcquiredError    a row's or a destination's lock was not to be had in the attempts allowed
    │   │   └── LockLostError       a destination's lock was had, and is a later holder's now
    │   ├── TransactionConflictError  deadlocks, duplicates or stale versions, attempt after attempt
    │   ├── BusyError               the same thing is being done right now: come back (HTTP 409, Retry-After)
    │   └── FinalConflictError      a replay would change nothing
    │       ├── StaleVersionError   the client saw an older version (HTTP 412); carries the current one
    │       ├── OverlapError        periods of custody overlap (HTTP 409); carries every conflict
    │       ├── SequenceExhaustedError  a prefix has fewer Bates numbers left than are asked for (HTTP 409)
    │       ├── CancelledError      a production is to be cancelled, or is being so: no step of it goes on
    │       └── WrongStateError     the thing is not in a state in which this can be done (HTTP 409)
    └── UnavailableError            not now: raise, so that the queue delivers again (HTTP 503)
        ├── DatabaseUnavailableError
        ├── CommitOutcomeUnknownError  the connection died inside COMMIT: it happened, or it did not
        ├── ChunkBusyError          another worker holds this chunk
        ├── ImportBusyError         another worker is splitting this upload; carries when to come back
        ├── QueueUnavailableError   a message was not accepted
        ├── TopicUnavailableError   an announcement was not accepted
        ├── FunctionUnavailableError  an execution could not be started or looked up
        └── StorageUnavailableError an object could not be read or written

Beside the families stand SettingsError (the deployment is incomplete: mend it), ImportNotRunningError (an import was
cancelled or has ended: stop, without an error to anybody) and SagaStepError (a step of a saga failed for good: what was
done before it is to be undone).

The first line of a class's docstring is its default message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.custody import Conflict


class ExhibitIngestError(Exception):
    """exhibit-ingest failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])


class SettingsError(ExhibitIngestError):
    """The environment is incomplete."""


class ImportNotRunningError(ExhibitIngestError):
    """The import was cancelled or has ended; nothing more is written for it."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the import is {status}")
        self.status = status


class SagaStepError(ExhibitIngestError):
    """A step of a saga failed for good; `step` is its name, `reason` why, without anything of a document."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step
        self.reason = reason


class InvalidInputError(ExhibitIngestError):
    """The input is not valid."""


class UploadRefusedError(InvalidInputError):
    """The object's key is not of the form imports/<tenant>/<case>/<upload id>/<file>."""


class FileRefusedError(InvalidInputError):
    """The file cannot be imported.

    `code` is one of the file failure codes of `core.reasons`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ForbiddenError(InvalidInputError):
    """The token does not name a tenant and a user."""


class NotFoundError(InvalidInputError):
    """There is no such thing."""


class KeyReusedError(InvalidInputError):
    """This Idempotency-Key came before with another request; use a new key for a new request."""


class PreconditionMissingError(InvalidInputError):
    """Send If-Match with the ETag of the version that you are changing."""


class NothingToProduceError(InvalidInputError):
    """No exhibit of the case matches the selection."""


class FilesMissingError(InvalidInputError):
    """Files that exhibits name cannot be copied; put them into the bucket, or leave the exhibits out."""


class ConflictError(ExhibitIngestError):
    """The operation conflicts with another one."""

    replayable = True


class BusyError(ConflictError):
    """The same request is being worked on; try again later.

    `retry_after_s` says when to ask again, in whole seconds.
    """

    replayable = False

    def __init__(self, message: str | None = None, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FinalConflictError(ConflictError):
    """The operation conflicts with what is there."""

    replayable = False


class StaleVersionError(FinalConflictError):
    """It was changed since you read it; read it again and repeat your change.

    `current_version` is the version to be read now.
    """

    def __init__(self, current_version: int) -> None:
        super().__init__()
        self.current_version = current_version


class OverlapError(FinalConflictError):
    """Periods of custody of one device overlap; nothing was recorded.

    `conflicts` are all of them, or the first so many, as the message says.
    """

    def __init__(self, message: str, conflicts: Sequence[Conflict]) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)


class SequenceExhaustedError(FinalConflictError):
    """The prefix has fewer Bates numbers left than are asked for."""

    def __init__(self, requested: int, available: int) -> None:
        super().__init__(f"sequence exhausted: requested {requested}, available {available}; use another prefix")
        self.requested = requested
        self.available = available


class CancelledError(FinalConflictError):
    """The production is cancelled, or is to be."""


class WrongStateError(FinalConflictError):
    """This cannot be done in the state in which it is."""


class LockNotAcquiredError(ConflictError):
    """Failed to acquire lock."""


class LockLostError(LockNotAcquiredError):
    """The insert lock was lost to a later holder."""


class TransactionConflictError(ConflictError):
    """The transaction conflicted with others in every attempt."""


class UnavailableError(ExhibitIngestError):
    """A service is not available; try again later."""


class DatabaseUnavailableError(UnavailableError):
    """The database is not available; try again later."""


class CommitOutcomeUnknownError(UnavailableError):
    """The connection was lost during COMMIT; whether it took effect is not known: look, or repeat it with its key."""


class ChunkBusyError(UnavailableError):
    """Another worker is importing this chunk."""


class ImportBusyError(UnavailableError):
    """Another worker is splitting this upload.

    `retry_after_s` says for how long at most, in whole seconds.
    """

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class QueueUnavailableError(UnavailableError):
    """The queue did not accept every message."""


class StorageUnavailableError(UnavailableError):
    """The object could not be read or written."""


class TopicUnavailableError(UnavailableError):
    """The topic did not accept the message."""


class FunctionUnavailableError(UnavailableError):
    """The execution could not be started or looked up."""
