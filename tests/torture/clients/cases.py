"""Users who close, hold and reopen the cases in which others are at work; the others wait where a case refuses them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tests.torture.clients.api_calls import BY_CASE, Answered, Client
from tests.torture.clients.contention import together
from tests.torture.clients.users import expect, until
from tests.torture.models.cases import CaseState
from tests.torture.plans.cases import NEVER_CLOSED, CaseAct, CaseStep
from tests.torture.plans.purges import PURGED

LATER = "2999-12-31"
HOLD, LIFT = {"hold": {"reason": "Order of the court"}}, {"hold": None}
CLOSE, REOPEN = {"status": "closed"}, {"status": "open"}
CLOSED, HELD = "The case is closed", "The case is under a legal hold"


class CaseKeeper:
    """Takes the steps of the plan, each to its end; `second` is another client of the same tenant."""

    def __init__(self, client: Client, second: Client, steps: Sequence[CaseStep]) -> None:
        self._client, self._second, self._steps = client, second, steps
        self._course = client.ledger.cases

    def run(self) -> None:
        """Until all steps were taken."""
        until(self._list, "a case")
        for step in self._steps:
            cases = self._list()
            case = next((each for each in cases if each["name"] == step.case), cases[0])
            taken: dict[CaseAct, Callable[[dict[str, Any], float], None]] = {
                CaseAct.CLOSE: self._close,
                CaseAct.HOLD: self._hold,
                CaseAct.BY_TWO: self._change_by_two,
                CaseAct.PURGE_LATER: self._purge_later,
            }
            act = CaseAct.HOLD if case["name"].startswith(NEVER_CLOSED) else step.act
            taken[act](case, step.seconds)

    def _list(self) -> list[dict[str, Any]]:
        """List the cases, but for those that another client purges."""
        listed = self._client.get("/cases?limit=100").body["items"]
        return [each for each in listed if not each["name"].startswith(PURGED)]

    def _close(self, case: dict[str, Any], seconds: float) -> None:
        self._patch(case, CLOSE, "closed")
        name = f"Never {len(self._course.refused)}"
        self._course.refused.append(name)
        self._is_refused(("POST", "/custodians", {"case": case["name"], "name": name}), CLOSED)
        time.sleep(seconds)
        self._patch(case, REOPEN, "reopened")

    def _hold(self, case: dict[str, Any], seconds: float) -> None:
        """Hold the case, unless something of it is being removed; neither a purge nor an undo can be requested then."""
        answered = self._patch(case, HOLD, "held", refusal=409)
        if answered.status != 200:
            return
        self._is_refused(self._build_purge(case), HELD)
        for each in self._client.get(f"/imports?case={case['name']}&limit=1").body["items"]:
            self._is_refused(("POST", f"/imports/{each['id']}/undo", {}), HELD)
        time.sleep(seconds)
        self._patch(case, LIFT, "lifted")

    def _change_by_two(self, case: dict[str, Any], seconds: float) -> None:
        """Both have seen the same version: one of them changes the case."""
        path = f"/cases/{case['id']}"
        seen = self._client.get(path).etag
        closed, held = together(
            partial(self._client.change, "PATCH", path, CLOSE, if_match=seen),
            partial(self._second.change, "PATCH", path, HOLD, if_match=seen),
        )
        statuses = (closed.status, held.status)
        if statuses == (200, 200):
            self._client.ledger.complain(f"lost: {path} was changed twice from version {seen}")
        # No hold is placed while something of the case is being removed.
        expect(self._client, statuses in ((200, 412), (412, 200), (200, 409)), "changing a case at once", statuses)
        self._note(closed, "closed")
        self._note(held, "held")
        time.sleep(seconds)
        if closed.status == 200:
            self._patch(case, REOPEN, "reopened")
        if held.status == 200:
            self._patch(case, LIFT, "lifted")

    def _purge_later(self, case: dict[str, Any], seconds: float) -> None:
        """Request a purge, which is refused while work of the case has not ended, and withdraw it by a hold."""
        answered = self._client.change(*self._build_purge(case))
        expect(self._client, answered.status in (200, 409), "requesting a purge", answered)
        if answered.status == 409:
            return
        self._note(answered, "closed", "purge_requested")
        time.sleep(seconds)
        self._patch(case, REOPEN, refusal=409, is_refused=True)
        self._patch(case, HOLD, "purge_withdrawn", "held")
        self._patch(case, LIFT, "lifted")
        self._patch(case, REOPEN, "reopened")

    def _build_purge(self, case: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
        return "POST", f"/cases/{case['id']}/purge", {"confirm": case["name"], "after": LATER}

    def _patch(
        self, case: dict[str, Any], body: dict[str, Any], *kinds: str, refusal: int = 0, is_refused: bool = False
    ) -> Answered:
        """Change the case, which may be, or `is_refused` with that status; no other client changes it meanwhile."""
        path = f"/cases/{case['id']}"
        answered = self._client.change("PATCH", path, body, if_match=self._client.get(path).etag)
        expected = {refusal} if is_refused else {200, refusal}
        expect(self._client, answered.status in expected, f"changing {path} by {body}", answered)
        self._note(answered, *kinds)
        return answered

    def _note(self, answered: Answered, *kinds: str) -> None:
        if answered.status == 200:
            body = answered.body
            state = CaseState(body["status"], body["hold"] is not None, body["purge"] is not None)
            self._course.states[body["id"], body["version"]] = state
            self._course.changes.update((body["id"], kind) for kind in kinds)

    def _is_refused(self, request: tuple[str, str, Any], words: str) -> None:
        """Send a request that the case must refuse with these words, whatever else it would be refused for."""
        answered = self._client.change(*request, refused_by=BY_CASE)
        is_so = answered.status == 409 and answered.body["detail"].startswith(words)
        expect(self._client, is_so, f"{request[0]} {request[1]}, refused by its case", answered)
