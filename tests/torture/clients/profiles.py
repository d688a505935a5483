"""Users who create, replace and delete mapping profiles at the same time, and one who imports with them."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.torture.clients.api_calls import Answered, Client
from tests.torture.clients.contention import at_once
from tests.torture.clients.users import expect, put_to, see_to, until

# The profile that imports use, and one that is deleted.
KEPT, DELETED = "Kept", "Deleted"
CASE, FIELDS = "Profiled", ("title", "file_name")
TURNS, IMPORTS = 4, 2


def keep_profiles(one: Client, other: Client) -> None:
    """Of two who create a name one succeeds; of two who replace or delete the version that both have read, too."""
    for name in (KEPT, DELETED):
        answers = at_once(one, other, "POST", "/profiles", _body(one, name))
        _expect(one, [201, 409], "creating a profile", answers)
        for made in (each.body for each in answers if each.status == 201):
            one.ledger.versioned(made)
            _replace(one, other, made)
    path = f"/profiles/{_latest(one, DELETED)}"
    answers = at_once(one, other, "DELETE", path, if_match=one.get(path).etag)
    _expect(one, [200, 404], "deleting a profile", answers)
    one.ledger.deleted_profiles |= {each.body["id"] for each in answers if each.status == 200}


def _replace(one: Client, other: Client, profile: dict[str, Any]) -> None:
    path = f"/profiles/{profile['id']}"
    for _ in range(TURNS):
        read = one.get(path).etag
        answers = at_once(one, other, "PUT", path, _body(one, profile["name"]), if_match=read)
        changed = [each.body for each in answers if each.status == 200]
        if len(changed) > 1:
            one.ledger.complain(f"lost: {path} was replaced twice from version {read}")
        _expect(one, [200, 412], "replacing a profile", answers)
        for each in changed:
            one.ledger.versioned(each)


def _body(client: Client, name: str) -> dict[str, Any]:
    """Return a profile that no other request has: the fingerprint tells whose it is."""
    columns = {"Doc": "control_number", "Text": client.draw.choice(FIELDS)}
    return {"name": name, "headerFingerprint": f"{client.draw.getrandbits(256):064x}", "options": {"columns": columns}}


def _latest(client: Client, name: str) -> int:
    return max(profile for (profile, _), each in list(client.ledger.profiles.items()) if each["name"] == name)


def _expect(client: Client, statuses: list[int], doing: str, answers: list[Answered]) -> None:
    expect(client, sorted(each.status for each in answers) == statuses, doing, answers)


def import_with_profile(client: Client) -> None:
    """Import small files with the profile, whichever version it has when they are announced."""
    until(lambda: _is_there(client), f"the profile {KEPT}")
    for turn in range(IMPORTS):
        data = f"Doc,Text\r\nR{turn}-1,words of {turn}\r\n".encode()
        body = {"case": CASE, "fileName": "profiled.csv", "size": len(data), "profile": KEPT}
        answered = client.change("POST", "/imports", body)
        expect(client, answered.status == 201, "announcing with a profile", answered)
        import_id = answered.body["id"]
        client.ledger.profiled[import_id] = {}
        until(partial(put_to, answered.body["upload"], data), "an upload")
        see_to(client, import_id)
        client.ledger.profiled[import_id] = client.get(f"/imports/{import_id}").body["profile"]


def _is_there(client: Client) -> bool:
    return any(each["name"] == KEPT for each in list(client.ledger.profiles.values()))
