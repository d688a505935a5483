"""Every error that this application raises on purpose, by what its caller can do about it.

    ExhibitIngestError
    ├── InvalidInputError           the input is wrong: reject it (HTTP 400), never retry
    │   ├── UploadRefusedError      an object that is no upload of ours: nothing to record it against
    │   └── FileRefusedError        a load file that cannot be imported at all; carries a code
    ├── ConflictError               somebody else was faster: replay the whole unit, then HTTP 409
    │   ├── LockNotAcquiredError    a row lock was not to be had in the attempts allowed
    │   └── TransactionConflictError  deadlocks or duplicates, attempt after attempt
    └── UnavailableError            not now: raise, so that the queue delivers again (HTTP 503)
        ├── DatabaseUnavailableError
        ├── CommitOutcomeUnknownError  the connection died inside COMMIT: it happened, or it did not
        ├── ChunkBusyError          another worker holds this chunk
        ├── QueueUnavailableError   a message was not accepted
        └── StorageUnavailableError an object could not be read or written

Beside the families stand SettingsError (the deployment is incomplete: mend it) and ImportNotRunningError (an import was
cancelled or has ended: stop, without an error to anybody).

The first line of a class's docstring is its default message.
"""

from __future__ import annotations


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


class ConflictError(ExhibitIngestError):
    """The operation conflicts with another one."""


class LockNotAcquiredError(ConflictError):
    """Failed to acquire lock."""


class TransactionConflictError(ConflictError):
    """The transaction conflicted with others in every attempt."""


class UnavailableError(ExhibitIngestError):
    """A service is not available; try again later."""


class DatabaseUnavailableError(UnavailableError):
    """The database is not available; try again later."""


class CommitOutcomeUnknownError(UnavailableError):
    """The connection was lost during COMMIT; whether it took effect is not known."""


class ChunkBusyError(UnavailableError):
    """Another worker is importing this chunk."""


class QueueUnavailableError(UnavailableError):
    """The queue did not accept every message."""


class StorageUnavailableError(UnavailableError):
    """The object could not be read or written."""
