"""Which answer an error becomes. Names are part of the public interface: they are added, never renamed."""

from __future__ import annotations

from dataclasses import dataclass

from core import errors

PROBLEM_URN = "urn:exhibit-ingest:problem:"


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem document; `retry_after_s` is when to come back where the error itself does not say."""

    name: str
    status: int
    title: str
    retry_after_s: int | None = None


INVALID = ProblemKind("invalid-request", 400, "The request is not valid.")
NO_ROUTE = ProblemKind("no-such-route", 404, "There is no such route.")
UNSUPPORTED = ProblemKind("unsupported-media-type", 415, "The body's media type is not understood.")
FALLBACK = ProblemKind("internal-error", 500, "The request could not be answered.")

_KINDS: dict[type[Exception], ProblemKind] = {
    errors.InvalidInputError: INVALID,
    errors.ForbiddenError: ProblemKind("forbidden", 403, "The token does not allow this."),
    errors.NotFoundError: ProblemKind("not-found", 404, "There is no such thing."),
    errors.StaleVersionError: ProblemKind("stale-version", 412, "It was changed since you read it."),
    errors.KeyReusedError: ProblemKind("idempotency-key-reused", 422, "The key belongs to another request."),
    errors.PreconditionMissingError: ProblemKind("precondition-missing", 428, "If-Match is missing."),
    errors.BusyError: ProblemKind("in-progress", 409, "The same request is being worked on."),
    errors.OverlapError: ProblemKind("overlap", 409, "Periods of custody overlap."),
    errors.SequenceExhaustedError: ProblemKind("sequence-exhausted", 409, "Too few Bates numbers are left."),
    errors.WrongStateError: ProblemKind("wrong-state", 409, "Its state does not allow this."),
    errors.ConflictError: ProblemKind("conflict", 409, "Others changed the same things at once.", retry_after_s=1),
    errors.UnavailableError: ProblemKind("unavailable", 503, "A service is not available.", retry_after_s=5),
}


NAMES = sorted({kind.name for kind in (INVALID, NO_ROUTE, UNSUPPORTED, FALLBACK, *_KINDS.values())})


def kind_of(error: Exception) -> ProblemKind:
    """The kind of the nearest class of the error that has one; FALLBACK for any other."""
    return next((_KINDS[cls] for cls in type(error).__mro__ if cls in _KINDS), FALLBACK)
