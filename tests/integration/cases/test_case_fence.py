"""Each route that writes answers as its table says in each status of the case, and under a legal hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from secrets import token_hex
from typing import Any, NamedTuple

from core.statuses import CaseStatus
from shell.case_state.fence import Entry, find_refusal
from tests.integration.imports.import_requests import THREE, run_chunks, start
from tests.support.api.client import Client
from tests.support.application.driver import World
from tools.openapi import DOCUMENT

CLIENT = Client("tenant")
_PATHS = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
WRITES = {
    f"{method.upper()} {path}"
    for path, methods in _PATHS.items()
    for method in methods
    if method in ("post", "put", "patch", "delete")
}
CHANGE, REMOVE, READ = Entry.CHANGE, Entry.REMOVE, Entry.READ
ENTRIES = {
    "POST /imports": CHANGE,
    "POST /imports/{importId}/cancel": READ,
    "POST /imports/{importId}/retry": CHANGE,
    "POST /imports/{importId}/check": CHANGE,
    "POST /imports/{importId}/run": CHANGE,
    "PUT /imports/{importId}/options": CHANGE,
    "POST /imports/{importId}/corrections": CHANGE,
    "POST /imports/{importId}/undo": REMOVE,
    "POST /volumes": CHANGE,
    "POST /volumes/{volumeId}/files": CHANGE,
    "POST /volumes/{volumeId}/import": CHANGE,
    "POST /volumes/{volumeId}/run": CHANGE,
    "DELETE /volumes/{volumeId}": REMOVE,
    "POST /previews": CHANGE,
    "PATCH /exhibits/{exhibitId}": CHANGE,
    "POST /exhibits/{exhibitId}/custodians": CHANGE,
    "DELETE /exhibits/{exhibitId}/custodians": CHANGE,
    "POST /custodians": CHANGE,
    "POST /taggings": CHANGE,
    "DELETE /taggings": CHANGE,
    "POST /tagging-jobs": CHANGE,
    "POST /tagging-jobs/{jobId}/cancel": READ,
    "POST /productions": CHANGE,
    "POST /productions/{productionId}/cancel": READ,
    "POST /productions/{productionId}/retry": READ,
    "POST /exports": READ,
    "POST /exports/{exportId}/cancel": READ,
    "POST /custody-periods": CHANGE,
    "PATCH /custody-periods/{periodId}": CHANGE,
    "DELETE /custody-periods/{periodId}": REMOVE,
    "POST /custody-transfers": CHANGE,
}
# Of the tenant, or about the case itself (test_case_life.py).
WITHOUT_FENCE = {
    "POST /cases",
    "PATCH /cases/{caseId}",
    "POST /cases/{caseId}/purge",
    "DELETE /cases/{caseId}/purge",
    "POST /profiles",
    "PUT /profiles/{profileId}",
    "DELETE /profiles/{profileId}",
    "PUT /devices/{deviceId}",
    "POST /operations/events/retry",
    "POST /operations/events/{eventId}/retry",
    # It changes nothing.
    "POST /productions/check",
}
STATUSES = [
    *((status, False) for status in (CaseStatus.PURGED, CaseStatus.PURGING, CaseStatus.CLOSED)),
    *((CaseStatus.OPEN, is_held) for is_held in (True, False)),
]
REFUSED = ("The case is closed", "The case is being purged", "The case is purged", "The case is under a legal hold")


class Request(NamedTuple):
    """A request of a route: its path and its body."""

    route: str
    path: str
    body: Any = None

    def send(self) -> str:
        """Send it; return the sentence by which the case refused it, empty if it did not."""
        method = self.route.partition(" ")[0]
        reply = CLIENT.call(method, self.path, self.body, **{"Idempotency-Key": token_hex(8), "If-Match": "*"})
        detail = str(reply.json.get("detail", "")) if isinstance(reply.json, dict) else ""
        if reply.status in (400, 403, 404, 428, 500, 503):
            return f"{reply.status}: {detail}"
        return detail if reply.status == 409 and detail.startswith(REFUSED) else ""


def list_requests(world: World) -> Iterator[Request]:
    """Yield a request of each route, for things that the case has."""
    imported = CLIENT.post("/imports", {"case": "Case", "fileName": "a.dat"}).json
    assert start(world.upload(THREE))
    run_chunks(world)
    done = int(world.query("SELECT MAX(id) FROM imports")[0][0])
    volume = CLIENT.post("/volumes", {"case": "Case", "name": "VOL001"}).json["id"]
    exhibits = [row[0] for row in world.query("SELECT id FROM exhibits ORDER BY id")]
    custodian = world.query("SELECT MIN(id) FROM custodians")[0][0]
    job = CLIENT.post("/tagging-jobs", {"case": "Case", "query": {}, "add": ["Job"]}).json["id"]
    export = CLIENT.post("/exports", {"case": "Case", "kind": "tags", "format": "csv"}).json["id"]
    produced = {"case": "Case", "volume": "V", "prefix": "P", "digits": 4, "query": {}}
    production = CLIENT.post("/productions", produced).json["id"]
    begun = {"deviceId": 1, "begin": "2026-11-21T15:00:00Z", "end": None, "custodianId": custodian}
    period = CLIENT.post("/custody-periods", [begun]).json["items"][0]["id"]
    of_import, of_done, of_volume = f"/imports/{imported['id']}", f"/imports/{done}", f"/volumes/{volume}"
    tagging = {"exhibitIds": exhibits[:1], "tags": ["Hot"]}
    named = {"custodians": ["Smith"]}
    bodies: dict[str, tuple[str, Any]] = {
        "POST /imports": ("/imports", {"case": "Case", "fileName": "b.dat"}),
        "PUT /imports/{importId}/options": (f"{of_import}/options", {"options": {}}),
        "POST /imports/{importId}/check": (f"{of_import}/check", None),
        "POST /imports/{importId}/run": (f"{of_import}/run", {}),
        "POST /imports/{importId}/retry": (f"{of_done}/retry", None),
        "POST /imports/{importId}/corrections": (f"{of_done}/corrections", {"discard": [2]}),
        "POST /imports/{importId}/cancel": (f"{of_import}/cancel", None),
        "POST /volumes": ("/volumes", {"case": "Case", "name": "VOL002"}),
        "POST /volumes/{volumeId}/files": (f"{of_volume}/files", [{"path": "a.txt", "size": 1}]),
        "POST /volumes/{volumeId}/import": (f"{of_volume}/import", {}),
        "POST /volumes/{volumeId}/run": (f"{of_volume}/run", {}),
        "DELETE /volumes/{volumeId}": (of_volume, None),
        "POST /previews": ("/previews", {"case": "Case", "fileName": "a.dat", "size": 10}),
        "PATCH /exhibits/{exhibitId}": (f"/exhibits/{exhibits[0]}", {"title": "New"}),
        "POST /exhibits/{exhibitId}/custodians": (f"/exhibits/{exhibits[0]}/custodians", named),
        "DELETE /exhibits/{exhibitId}/custodians": (f"/exhibits/{exhibits[0]}/custodians", named),
        "POST /custodians": ("/custodians", {"case": "Case", "name": "Ada"}),
        "POST /taggings": ("/taggings", tagging),
        "DELETE /taggings": ("/taggings", tagging),
        "POST /tagging-jobs": ("/tagging-jobs", {"case": "Case", "query": {}, "add": ["More"]}),
        "POST /tagging-jobs/{jobId}/cancel": (f"/tagging-jobs/{job}/cancel", None),
        "POST /productions": ("/productions", {**produced, "volume": "W"}),
        "POST /productions/{productionId}/cancel": (f"/productions/{production}/cancel", None),
        "POST /productions/{productionId}/retry": (f"/productions/{production}/retry", None),
        "POST /exports": ("/exports", {"case": "Case", "kind": "tags", "format": "csv"}),
        "POST /exports/{exportId}/cancel": (f"/exports/{export}/cancel", None),
        "POST /custody-periods": ("/custody-periods", [{**begun, "deviceId": 2}]),
        "PATCH /custody-periods/{periodId}": (f"/custody-periods/{period}", {"note": "A note"}),
        "POST /custody-transfers": (
            "/custody-transfers",
            {"deviceId": 1, "at": "2026-11-22T15:00:00Z", "custodianId": custodian},
        ),
        "DELETE /custody-periods/{periodId}": (f"/custody-periods/{period}", None),
        "POST /imports/{importId}/undo": (f"{of_done}/undo", {"dryRun": False}),
    }
    yield from (Request(route, *rest) for route, rest in bodies.items())


def test_every_route_that_writes_is_in_the_table() -> None:
    assert ENTRIES.keys() | WITHOUT_FENCE == WRITES


def test_each_route_answers_as_the_table_says(world: World) -> None:
    """What is refused changes nothing, so the statuses follow one another; those that allow more come last."""
    requests = list(list_requests(world))
    assert {each.route for each in requests} == ENTRIES.keys()
    answers: dict[str, str] = {}
    expected: dict[str, str] = {}
    for status, is_held in STATUSES:
        held = "NOW(6)" if is_held else "NULL"
        world.query(f"UPDATE cases SET status = :status, held_at = {held}", status=status.value)
        for each in requests:
            refusal = find_refusal(status, ENTRIES[each.route], is_held=is_held)
            place = f"{status} {is_held}: {each.route}"
            answers[place], expected[place] = each.send(), str(refusal or "")
    assert answers == expected


def test_the_rule_refuses_what_a_status_does_not_allow() -> None:
    """The table itself, without the routes: by status and hold, what a case allows."""
    allowed = {
        (status.value, is_held): {entry for entry in Entry if find_refusal(status, entry, is_held=is_held) is None}
        for status, is_held in [*STATUSES, (CaseStatus.CLOSED, True)]
    }
    assert allowed == {
        ("open", False): {CHANGE, REMOVE, READ},
        ("open", True): {CHANGE, READ},
        ("closed", False): {READ},
        ("closed", True): {READ},
        ("purging", False): set(),
        ("purged", False): set(),
    }


def test_the_response_of_a_key_names_its_case(world: World) -> None:
    for request in list_requests(world):
        request.send()
    case_id = world.query("SELECT id FROM cases")[0][0]
    kept = world.query("SELECT route, case_id FROM idempotency_keys WHERE status = 'completed' AND case_id IS NULL")
    assert {row[0] for row in kept} <= WITHOUT_FENCE
    assert world.query("SELECT DISTINCT case_id FROM idempotency_keys WHERE case_id IS NOT NULL") == [(case_id,)]
