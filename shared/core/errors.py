"""The errors that callers can react to, grouped by what they can do about them.

    ExhibitIngestError
    ├── InvalidInputError           the input is invalid: reject it (HTTP 400), never retry
    │   ├── UploadRefusedError      an uploaded object whose key does not identify an import
    │   ├── FileRefusedError        a load file that cannot be imported at all (HTTP 422); carries a code
    │   ├── ForbiddenError          a token that does not name a tenant and a user (HTTP 403)
    │   │   └── RoleMissingError    a token without the role that the route requires (HTTP 403); carries the role
    │   ├── NotFoundError           an object that the caller's tenant does not have (HTTP 404)
    │   ├── KeyReusedError          an idempotency key that was used for another request (HTTP 422)
    │   ├── PreconditionMissingError  a change without If-Match (HTTP 428)
    │   ├── NothingToProduceError   a production whose selection matches no exhibit
    │   └── ProductionRefusedError  documents that cannot be produced (HTTP 422); carries the findings
    ├── ConflictError               a concurrent operation: retry the whole transaction, then HTTP 409
    │   ├── LockNotAcquiredError    the lock of a row or destination was not acquired in the attempts allowed
    │   │   └── LockLostError       the lock of a destination was acquired, and has passed to a later holder
    │   ├── TransactionConflictError  deadlocks, duplicates or stale versions in every attempt
    │   ├── BusyError               the same operation is in progress: retry later (HTTP 409, Retry-After)
    │   └── FinalConflictError      a conflict that a retry does not resolve
    │       ├── StaleVersionError   the client sent an older version (HTTP 412); carries the current one
    │       ├── NameTakenError      another object of the tenant has the name (HTTP 409)
    │       ├── OverlapError        custody periods overlap (HTTP 409); carries every conflict
    │       ├── SequenceExhaustedError  a prefix has fewer Bates numbers left than requested (HTTP 409)
    │       ├── CancelledError      a production was cancelled: none of its steps may continue
    │       ├── AlreadyExistsError  an object with this name exists (HTTP 409)
    │       └── WrongStateError     the object's state does not allow the operation (HTTP 409)
    │           └── SourceChangedError  a file changed between its check and its import (HTTP 409)
    └── UnavailableError            a temporary failure: raise, so that SQS redelivers (HTTP 503)
        ├── DatabaseUnavailableError
        │   └── DatabaseWakingError   no attempt reached a server to write to: it resumes, restarts or is down
        ├── CommitOutcomeUnknownError  the connection was lost during COMMIT, which may have taken effect
        ├── ChunkBusyError          another worker is importing this chunk
        ├── ImportBusyError         another worker is at this upload or case; carries when to retry
        ├── DeadlineNearError       the invocation ends before a message could be handled
        ├── QueueUnavailableError   SQS did not accept a message
        ├── TopicUnavailableError   SNS did not accept a message
        ├── FunctionUnavailableError  a durable execution could not be started or found
        └── StorageUnavailableError an object could not be read or written
            └── StorageRefusedError   S3 forbids it, or the bytes are others than before

Outside of the families are SettingsError (fix the deployment), ImportNotRunningError and SplitPausedError (stop,
without reporting an error) and SagaStepError (a saga step failed for good: compensate the steps before it).

The first line of a class's docstring is its default message. It says what happened and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.custody import PeriodConflict


class ExhibitIngestError(Exception):
    """exhibit-ingest failed; read the log for the cause."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])


class SettingsError(ExhibitIngestError):
    """The environment is incomplete; set the missing environment variable and deploy again."""


class ImportNotRunningError(ExhibitIngestError):
    """The import was cancelled or has ended; retry the import if its remaining rows are needed."""

    def __init__(self, status: str) -> None:
        super().__init__(f"The import has the status {status}.")
        self.status = status


class SplitPausedError(ExhibitIngestError):
    """The split of a file goes on in another invocation; request it."""


class SagaStepError(ExhibitIngestError):
    """A saga step failed for good; the steps before it are compensated.

    `step` is the step's name. `reason` is the cause, without content of a document.
    """

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step
        self.reason = reason


class InvalidInputError(ExhibitIngestError):
    """The input is invalid; correct it and send it again."""


class UploadRefusedError(InvalidInputError):
    """The object was not imported; upload it under imports/<tenant>/<case>/<upload id>/<file>."""


class FileRefusedError(InvalidInputError):
    """The file cannot be imported; correct it and upload it again.

    `code` is one of the file failure codes of `core.codes`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ForbiddenError(InvalidInputError):
    """The token does not name a tenant and a user that can be stored; ask the administrator who issues your tokens."""


class RoleMissingError(ForbiddenError):
    """The token does not have the role that this request requires; ask an administrator for it.

    `required` is the name of that role.
    """

    def __init__(self, required: str, role: str | None) -> None:
        super().__init__(
            f"This request requires the role {required}, and your token has "
            f"{f'the role {role}' if role else 'none of the roles'}; ask the administrator who issues your tokens."
        )
        self.required = required


class NotFoundError(InvalidInputError):
    """Your tenant has no such object; check the id or the name."""


class KeyReusedError(InvalidInputError):
    """This Idempotency-Key was already used for a different request; send a new key with a new request."""


class PreconditionMissingError(InvalidInputError):
    """If-Match is missing; send the ETag of the version that you are changing."""


class NothingToProduceError(InvalidInputError):
    """No exhibit of the case matches the selection; select at least one exhibit."""


class ProductionRefusedError(InvalidInputError):
    """The documents cannot be produced; correct what the findings name.

    `findings` are those that block the production, as the API represents them.
    """

    def __init__(self, message: str, findings: Sequence[Any]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class ConflictError(ExhibitIngestError):
    """Another request changed the same data; try again."""

    retryable = True


class BusyError(ConflictError):
    """An identical request is in progress; repeat this one after the time in Retry-After.

    `retry_after_s` is when to retry, in whole seconds.
    """

    retryable = False

    def __init__(self, message: str | None = None, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FinalConflictError(ConflictError):
    """The request conflicts with existing data; change the request."""

    retryable = False


class StaleVersionError(FinalConflictError):
    """The object was changed after you read it; read it again and repeat your change.

    `current_version` is the version that is stored now.
    """

    def __init__(self, current_version: int) -> None:
        super().__init__()
        self.current_version = current_version


class NameTakenError(FinalConflictError):
    """Another object has this name; use another name, or change that object."""


class OverlapError(FinalConflictError):
    """Custody periods of one device overlap; nothing was recorded, so correct the periods and send them again.

    `conflicts` are all conflicts, or the first ones if the message says so.
    """

    def __init__(self, message: str, conflicts: Sequence[PeriodConflict]) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)


class SequenceExhaustedError(FinalConflictError):
    """The prefix has fewer Bates numbers left than requested; use another prefix."""

    def __init__(self, requested: int, available: int) -> None:
        super().__init__(f"Sequence exhausted: requested {requested}, available {available}; use another prefix.")
        self.requested = requested
        self.available = available


class CancelledError(FinalConflictError):
    """The production was cancelled; create a new production if you still need it."""


class AlreadyExistsError(FinalConflictError):
    """An object with this name exists already; use it, or choose another name."""


class WrongStateError(FinalConflictError):
    """The current status does not allow this operation; check the status and try again when it does."""


class SourceChangedError(WrongStateError):
    """SOURCE_CHANGED: the file that was checked is not in the bucket any more; upload it again and check it."""


class LockNotAcquiredError(ConflictError):
    """Failed to acquire lock; try again."""


class LockLostError(LockNotAcquiredError):
    """The insert lock was lost to a later holder; try again."""


class TransactionConflictError(ConflictError):
    """The transaction conflicted with others in every attempt; try again."""


class UnavailableError(ExhibitIngestError):
    """A service is unavailable; try again later."""


class DatabaseUnavailableError(UnavailableError):
    """The database is unavailable; try again later."""


class DatabaseWakingError(DatabaseUnavailableError):
    """The database is resuming after a pause, or restarting. Try again after the time in Retry-After."""


class CommitOutcomeUnknownError(UnavailableError):
    """The connection was lost during COMMIT; check the result, or repeat the request with the same Idempotency-Key."""


class ChunkBusyError(UnavailableError):
    """Another worker is importing this chunk; try again later."""


class ImportBusyError(UnavailableError):
    """Another worker splits this upload, works on this volume, or undoes another import of the case; try again later.

    `retry_after_s` is the longest time that this can take, in whole seconds.
    """

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class DeadlineNearError(UnavailableError):
    """The invocation ends before this message could be handled; it is delivered again."""


class QueueUnavailableError(UnavailableError):
    """SQS did not accept every message; try again later."""


class StorageUnavailableError(UnavailableError):
    """The object could not be read or written; try again later."""


class StorageRefusedError(StorageUnavailableError):
    """S3 refused the request for good, or returned other bytes than before; correct the object or the permission."""


class TopicUnavailableError(UnavailableError):
    """SNS did not accept the message; try again later."""


class FunctionUnavailableError(UnavailableError):
    """The durable execution could not be started or found; try again later."""
