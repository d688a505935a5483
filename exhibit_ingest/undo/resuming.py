"""Resume undos whose messages were lost with the stack in which they ran.

Guaranteed: an undo is resumed by the application's own request, which is harmless if the undo runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from exhibit_ingest.program import format_command

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


def build_undo_command(import_id: int, tenant: str) -> str:
    """Return the command that undoes an import, or continues its undo."""
    return format_command("undo", str(import_id), *([] if tenant == "local" else ["--tenant", tenant]))


def describe_stopped(import_id: int, tenant: str) -> str:
    """Return what to do after the stack of an undo ended; importing the file again would bring its rows back."""
    return (
        "What was undone stays undone. Do not import the file again; run the undo again, which continues: "
        f"{build_undo_command(import_id, tenant)}"
    )


def describe_resumed(undo: OpenUndo) -> str:
    """Return a sentence about an undo that was resumed."""
    name = "dry run of the undo" if undo.dry_run else "undo"
    return f"The {name} of import {undo.import_id} was interrupted; it is continued while this command runs."
