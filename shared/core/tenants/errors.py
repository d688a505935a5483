"""Why a request of a tenant is refused."""

from __future__ import annotations

from core.errors import ConflictError, ExhibitIngestError, ForbiddenError


class TenantRefusedError(ForbiddenError):
    """The status of your tenant does not allow this request; ask the operator of this deployment."""


class LimitReachedError(ConflictError):
    """A limit of your tenant is reached; try again after the time in Retry-After.

    `retry_after_s` is when to retry, in whole seconds.
    """

    retryable = False

    def __init__(self, message: str | None = None, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TooManyRequestsError(LimitReachedError):
    """Your tenant sends more requests a second than its limit; try again after the time in Retry-After."""


class StartPostponedError(ExhibitIngestError):
    """Work does not start now, for the tenant's status or a limit; request it again, later.

    `retry_after_s` is when, in whole seconds.
    """

    def __init__(self, *, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s
