"""Resume undos whose messages were lost with the stack in which they ran.

Guaranteed: an undo is resumed by the application's own request, which is harmless if the undo runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

_USER = "exhibit-ingest"


@dataclass(frozen=True)
class OpenUndo:
    """An undo, or a dry run of one, that has not ended."""

    import_id: int
    tenant_id: str
    case_id: int
    dry_run: bool


class ResumingStack(Protocol):
    """The part of a stack that resuming needs."""

    def request_api(
        self, tenant: str, user: str, method: str, path: str, body: object = None, if_match: str | None = None
    ) -> tuple[int, bytes]:
        """Send a request to the API, as this user, and return status code and body."""


def resume_undos(stack: ResumingStack, undos: Iterable[OpenUndo]) -> list[OpenUndo]:
    """Request each undo again, which sends its messages again; return those that have not ended meanwhile."""
    return [undo for undo in undos if _resume(stack, undo)]


def _resume(stack: ResumingStack, undo: OpenUndo) -> bool:
    path, body = f"/imports/{undo.import_id}/undo", {"dryRun": undo.dry_run}
    status, _ = stack.request_api(undo.tenant_id, _USER, "POST", path, body)
    return status < HTTPStatus.BAD_REQUEST


def describe_resumed(undo: OpenUndo) -> str:
    """Return a sentence about an undo that was resumed."""
    name = "dry run of the undo" if undo.dry_run else "undo"
    return f"The {name} of import {undo.import_id} was interrupted; it is continued while this command runs."
