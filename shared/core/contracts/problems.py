"""The kinds of problem documents, and the kind of each error.

Guaranteed: the name of a kind is never renamed or removed; users' scripts depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from core import errors
from core.contracts.refusals import CorrectionRefusedError
from core.tenants.errors import LimitReachedError, TenantRefusedError, TooManyRequestsError

PROBLEM_URN = "urn:exhibit-ingest:problem:"


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem document. `retry_after_s` is when to retry, unless the error itself carries it."""

    name: str
    status: int
    title: str
    retry_after_s: int | None = None


INVALID = ProblemKind("invalid-request", 400, "The request is invalid.")
NO_ROUTE = ProblemKind("no-such-route", 404, "The route does not exist.")
UNSUPPORTED = ProblemKind("unsupported-media-type", 415, "The media type of the body is not supported.")
FALLBACK = ProblemKind("internal-error", 500, "The request failed because of an internal error.")

_KINDS: dict[type[Exception], ProblemKind] = {
    errors.InvalidInputError: INVALID,
    errors.ProductionRefusedError: ProblemKind("production-refused", 422, "The documents cannot be produced."),
    CorrectionRefusedError: ProblemKind("correction-refused", 422, "Rows cannot be corrected."),
    errors.FileRefusedError: ProblemKind("file-refused", 422, "The load file cannot be imported."),
    errors.ForbiddenError: ProblemKind("forbidden", 403, "The token does not allow this request."),
    errors.RoleMissingError: ProblemKind("role-required", 403, "The token does not have the role that is required."),
    TenantRefusedError: ProblemKind("tenant-refused", 403, "The status of the tenant does not allow this."),
    errors.NotFoundError: ProblemKind("not-found", 404, "The object was not found."),
    errors.StaleVersionError: ProblemKind("stale-version", 412, "The object was changed after you read it."),
    errors.KeyReusedError: ProblemKind("idempotency-key-reused", 422, "The key belongs to a different request."),
    errors.PreconditionMissingError: ProblemKind("precondition-missing", 428, "If-Match is missing."),
    errors.BusyError: ProblemKind("in-progress", 409, "An identical request is in progress."),
    LimitReachedError: ProblemKind("limit-reached", 409, "A limit of the tenant is reached."),
    TooManyRequestsError: ProblemKind("too-many-requests", 429, "The tenant sends too many requests."),
    errors.NameTakenError: ProblemKind("name-taken", 409, "Another object has this name."),
    errors.OverlapError: ProblemKind("overlap", 409, "Custody periods overlap."),
    errors.SequenceExhaustedError: ProblemKind("sequence-exhausted", 409, "Too few Bates numbers are left."),
    errors.AlreadyExistsError: ProblemKind("already-exists", 409, "An object with this name exists already."),
    errors.WrongStateError: ProblemKind("wrong-state", 409, "It cannot be done now: see the detail."),
    errors.ConflictError: ProblemKind("conflict", 409, "Other requests changed the same data.", retry_after_s=1),
    errors.DatabaseWakingError: ProblemKind(
        "waking-up", 503, "The database is waking up or restarting.", retry_after_s=5
    ),
    errors.UnavailableError: ProblemKind("unavailable", 503, "A service is unavailable.", retry_after_s=5),
}


PROBLEM_NAMES = sorted({kind.name for kind in (INVALID, NO_ROUTE, UNSUPPORTED, FALLBACK, *_KINDS.values())})


def get_problem_kind(error: Exception) -> ProblemKind:
    """Return the kind of the error's nearest base class that has one, or FALLBACK."""
    return next((_KINDS[cls] for cls in type(error).__mro__ if cls in _KINDS), FALLBACK)
