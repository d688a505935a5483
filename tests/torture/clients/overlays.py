"""Users who overlay the documents of a case and undo that, one step after the other, and others who work on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import Answered, Client
from tests.torture.clients.contention import at_once
from tests.torture.clients.ledger import Linking, Overlaying, Undoing
from tests.torture.clients.users import CALM_S, ENDED, expect, put_to, see_to, until
from tests.torture.models.stored_documents import read_case
from tests.torture.plans.overlays import OVERLAID_CASE, OverlayPlan, Step, UndoPlan

PAUSE_S, TURNS = 0.3, 60
HOT = "hot"
# Some values are those of the files: an undo must not take them for its import's.
EDITS = (("title", ""), ("title", "one"), ("title", "two"), ("fileName", ""), ("dateSent", "2003-03-31T12:00:00"))
_CHANGED = (
    "SELECT (SELECT COUNT(*) FROM exhibit_changes WHERE import_id = :id AND undo_no IS NULL) + "
    "(SELECT COUNT(*) FROM exhibits WHERE import_id = :id) + "
    "(SELECT COUNT(*) FROM import_rejections WHERE import_id = :id)"
)


class Overlayer:
    """Takes the steps of the plan, each to its end before the next one, and notes what was there around each.

    `second` is another client of the same tenant, for an undo that two request at once.
    """

    def __init__(self, client: Client, second: Client, committed: Queried, plan: Sequence[Step]) -> None:
        self._client, self._second, self._committed, self._plan = client, second, committed, plan
        self._imports: list[int] = []
        self.has_ended = threading.Event()
        self.exhibits: list[int] = []

    def create_documents(self) -> None:
        """Take the first step."""
        next(self.steps())()

    def run(self) -> None:
        """Take all further steps; `has_ended` is set afterwards, whatever comes of them."""
        try:
            for step in list(self.steps())[1:]:
                step()
        finally:
            self.has_ended.set()

    def steps(self) -> Iterator[Callable[[], None]]:
        """Yield what is done, in its order."""
        for step in self._plan:
            yield partial(self._undo, step) if isinstance(step, UndoPlan) else partial(self._overlay, step)

    def _overlay(self, plan: OverlayPlan) -> None:
        noted = self._upload(self._client, plan)
        self._imports.append(noted.import_id)
        if plan.is_cancelled and self._is_cancelled(noted.import_id):
            noted.is_partial = plan.is_left
        self._end(noted)

    def _upload(self, client: Client, plan: OverlayPlan) -> Overlaying:
        before = self._read()
        body = {"case": OVERLAID_CASE, "fileName": "overlay.csv", "size": len(plan.data), "options": plan.options}
        answered = client.change("POST", "/imports", body)
        expect(client, answered.status == 201, "announcing an overlay", answered)
        noted = Overlaying(plan, answered.body["id"], before)
        client.ledger.steps.append(noted)
        until(lambda: put_to(answered.body["upload"], plan.data), "the upload of an overlay")
        return noted

    def _end(self, noted: Overlaying) -> None:
        """Wait for the end of an import; what was cancelled is retried, unless it is left."""
        if not noted.is_partial:
            see_to(self._client, noted.import_id)
        noted.after = self._read()

    def _is_cancelled(self, import_id: int) -> bool:
        """Cancel the import as soon as it has changed something, or has ended; return whether that was accepted."""
        path = f"/imports/{import_id}"
        until(lambda: self._has_changed(import_id), f"{path} to change something", every_s=0.02)
        if self._client.change("POST", f"{path}/cancel").status != 200:
            return False
        changed = self._count_changed(import_id)
        time.sleep(CALM_S)
        if self._count_changed(import_id) != changed:
            self._client.ledger.complain(f"misplaced: changes of import {import_id} follow its cancellation")
        return True

    def _has_changed(self, import_id: int) -> bool:
        status = self._committed.query("SELECT status FROM imports WHERE id = :id", id=import_id)[0][0]
        return status in ENDED or self._count_changed(import_id) > 0

    def _count_changed(self, import_id: int) -> int:
        return int(self._committed.query(_CHANGED, id=import_id)[0][0])

    def _undo(self, plan: UndoPlan) -> None:
        import_id = self._imports[plan.which]
        if plan.is_tried:
            self._request(import_id, {"dryRun": True})
        if plan.beside is None:
            self._request(import_id, {}, is_by_two=plan.is_by_two)
            return
        with ThreadPoolExecutor(1) as pool:
            uploaded = pool.submit(self._upload, self._second, plan.beside)
            self._request(import_id, {})
        self._end(uploaded.result())

    def _request(self, import_id: int, body: dict[str, Any], *, is_by_two: bool = False) -> None:
        """Request an undo, as soon as no other import of the case runs, and wait for its end."""
        client, path, before = self._client, f"/imports/{import_id}/undo", self._read()
        answers = until(lambda: self._is_accepted(path, body, is_by_two), f"{path} to be accepted")
        # Of two requests the later one may come when the undo has ended with conflicts, and begin another one.
        numbers = {each.body["undoNo"] for each in answers if each.body["undoNo"] is not None}
        numbers -= {each.undo_no for each in client.ledger.undos if each.import_id == import_id}
        noted = [Undoing(import_id, number, bool(body), before) for number in sorted(numbers)]
        client.ledger.steps += noted
        for _ in range(5 if noted else 0):
            result = until(lambda: _undone(client, path), f"{path} to end")
            if result["status"] != "undo_failed":
                break
            # What the application gave up is requested again.
            client.change("POST", path, body)
        after = self._read()
        for each in noted:
            each.result, each.after = result, after

    def _is_accepted(self, path: str, body: dict[str, Any], is_by_two: bool) -> list[Answered]:
        """Return the answers, or nothing while another import runs."""
        request = ("POST", path, body)
        answers = at_once(self._client, self._second, *request) if is_by_two else [self._client.change(*request)]
        refused = [each for each in answers if each.status == 409]
        expect(self._client, all(each.status in (200, 202, 409) for each in answers), "undoing", answers)
        return [] if refused else answers

    def _read(self) -> dict[int, Any]:
        found = read_case(self._client.ledger.tenant, self._committed)
        self.exhibits = sorted(found)
        return found


def _undone(client: Client, path: str) -> dict[str, Any] | None:
    found = client.get(path).body
    return dict(found) if found["finishedAt"] else None


def _turns(overlayer: Overlayer) -> Iterator[int]:
    """Yield turns until the last step was taken, one at least, as long as there are documents."""
    for turn in range(TURNS):
        if (turn and overlayer.has_ended.wait(PAUSE_S)) or not overlayer.exhibits:
            return
        yield turn


def _choose(client: Client, overlayer: Overlayer, most: int) -> tuple[int, ...]:
    """Return some of the exhibits; of a third of them seldom any, so that nothing but imports changes these."""
    ids = overlayer.exhibits
    often = [each for each in ids if each % 3] or ids
    some = often if client.draw.random() < 0.95 else ids
    return tuple(sorted(client.draw.sample(some, min(len(some), most))))


def edit(client: Client, overlayer: Overlayer, actor: int) -> None:
    """Correct titles, file names and dates, each on the version that was read, until the last step has been taken."""
    for turn in _turns(overlayer):
        exhibit = _choose(client, overlayer, 1)[0]
        name, value = client.draw.choice(EDITS)
        given = value or f"{name} by {actor} in turn {turn}"
        for _ in range(20):
            read = client.get(f"/exhibits/{exhibit}")
            if _is_gone(client, read, exhibit):
                break
            answered = client.change("PATCH", f"/exhibits/{exhibit}", {name: given}, if_match=read.etag)
            if answered.status == 200:
                client.ledger.edited(exhibit, answered.body["version"], {name: given})
            if answered.status == 200 or _is_gone(client, answered, exhibit):
                break
            expect(client, answered.status == 412, "correcting an exhibit that is overlaid", answered)


def link(client: Client, overlayer: Overlayer, actor: int) -> None:
    """Give tags and custodians, some of them those of the files, and take tags off, until the last step was taken."""
    for turn in _turns(overlayer):
        chosen = _choose(client, overlayer, client.draw.randint(1, 3))
        names = (HOT, f"Seen {actor}.{turn}")
        answered = client.change("POST", "/taggings", {"exhibitIds": chosen, "tags": names})
        _linked(client, answered, Linking("tagged", chosen, names))
        one = chosen[:1]
        if turn % 2:
            gone = (client.draw.choice(names),)
            answered = client.change("DELETE", "/taggings", {"exhibitIds": one, "tags": gone})
            # An overlay may have taken it off before: then there is nothing to record.
            if answered.status != 200 or answered.body["removed"]:
                _linked(client, answered, Linking("untagged", one, gone))
        else:
            keeper = (client.draw.choice(("Smith", f"Keeper {actor}.{turn}")),)
            answered = client.change("POST", f"/exhibits/{one[0]}/custodians", {"custodians": keeper})
            _linked(client, answered, Linking("custodians_added", one, keeper))


def _linked(client: Client, answered: Answered, linking: Linking) -> None:
    if not _is_gone(client, answered, *linking.exhibits):
        expect(client, answered.status == 200, linking.action, answered)
        client.ledger.linkings.append(linking)


def _is_gone(client: Client, answered: Answered, *exhibits: int) -> bool:
    """Return whether one of the exhibits was not found; an undo must have removed it."""
    if answered.status == 404:
        client.ledger.missed.append(exhibits)
    return answered.status == 404
