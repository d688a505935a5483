"""An undo as its users see to it: requested until no other import of the case runs, and again if it was given up."""

from __future__ import annotations

from typing import Any

from tests.torture.clients.api_calls import Client
from tests.torture.clients.users import expect, until


def request_undo(client: Client, import_id: int) -> int | None:
    """Return the number of the undo, once it is accepted; None, with a complaint, where it was refused for good."""
    path = f"/imports/{import_id}/undo"
    answered = until(lambda: _accept(client, path), f"{path} to be accepted")
    if answered["undoNo"] is None:
        expect(client, False, "undoing an import that has changed nothing", answered)
        return None
    return int(answered["undoNo"])


def wait_for_undo(client: Client, import_id: int) -> dict[str, Any]:
    """Return the undo once it has ended; what the application gave up is requested again."""
    path, result = f"/imports/{import_id}/undo", dict[str, Any]()
    for _ in range(5):
        result = until(lambda: _find_ended(client, path), f"{path} to end")
        if result["status"] != "undo_failed":
            break
        client.change("POST", path, {})
    return result


def _accept(client: Client, path: str) -> dict[str, Any] | None:
    """Return the answer, or None while another import of the case is about to end."""
    answered = client.change("POST", path, {})
    expect(client, answered.status in (200, 202, 409), "undoing an import", answered)
    return dict(answered.body) if answered.status < 300 else None


def _find_ended(client: Client, path: str) -> dict[str, Any] | None:
    found = client.get(path).body
    return dict(found) if found["finishedAt"] else None
