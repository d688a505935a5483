"""Corrections of rejected rows without what gives each row one winner."""

from __future__ import annotations

from typing import Any

from tests.torture.protections.switch import Switch, instead, swap, there

_CLAIMS, _COMMANDS = "shell.imports.state.claims", "shell.imports.corrections.commands"


def _claims() -> None:
    """Take lines in place of those that have them; the primary key alone would refuse that."""

    def overlooking(lock: Any) -> Any:
        def locked(*place: Any) -> Any:
            claims = lock(*place)
            return there(f"{_CLAIMS}:LockedClaims")({}, [*claims.taken, *claims.reopened])

        return locked

    swap(f"{_COMMANDS}:lock_claims", overlooking)


def _accepted_at_once() -> None:
    instead(f"{_CLAIMS}:PENDING", there(f"{_CLAIMS}:ACCEPTED"))


def _retry() -> None:
    instead("shell.imports.commands:refuse_without_claims", lambda *_: None)


def _undo() -> None:
    instead("shell.imports.undo.parts:reopen_lines", lambda *_: None)


OF_CORRECTIONS = {
    "correction-claims": Switch(
        "a correction takes lines that others have corrected or discarded",
        "imports.state.claims, imports.corrections.commands",
        _claims,
        why="the primary key of claims, which refuses a second one",
    ),
    "correction-pending": Switch(
        "a row counts as corrected from the request on, whatever comes of it", "imports.state.claims", _accepted_at_once
    ),
    "correction-retry": Switch(
        "a correction is retried although others have corrected its lines", "imports.state.claims", _retry
    ),
    "correction-undo": Switch(
        "the undo of a correction leaves its lines corrected", "imports.state.claims, imports.undo.parts", _undo
    ),
}
