"""Users who correct and discard the rejected rows of a file, at once and one after the other, and take that back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.torture.clients.api_calls import Answered, Client
from tests.torture.clients.contention import together
from tests.torture.clients.undos import request_undo, wait_for_undo
from tests.torture.clients.users import ENDED, expect, put_to, see_to, until
from tests.torture.models.corrections import CorrectionCourse, Ended, Looked, Refused, Retried, Taken, Undone
from tests.torture.plans.corrections import CorrectionCasePlan, CorrectionRequest, CorrectionStep
from tests.torture.plans.volumes import LOAD_FILE

# So small that the rows of a file take two pages.
ROWS_A_PAGE = 5
COMPLETED = ("completed", "completed_with_rejections")


class Corrector:
    """Does with the rejected rows of a file what the plan says; `second` is another client of the same tenant."""

    def __init__(self, client: Client, second: Client, plan: CorrectionCasePlan) -> None:
        self._client, self._second, self._plan = client, second, plan
        self._course = CorrectionCourse(plan)
        client.ledger.corrections[plan.case] = self._course

    def run(self) -> None:
        """Until everything of the plan is done."""
        self._course.import_id = self._send_volume() if self._plan.is_volume else self._upload()
        see_to(self._client, self._course.import_id)
        self._look()
        for step in self._plan.steps:
            self._take(step)
        if self._plan.is_undone:
            self._undo_file()

    def _upload(self) -> int:
        body = {"case": self._plan.case, "fileName": "load.dat", "size": len(self._plan.data)}
        answered = self._client.change("POST", "/imports", body)
        expect(self._client, answered.status == 201, "announcing a file", answered)
        until(partial(put_to, answered.body["upload"], self._plan.data), "the upload of a file")
        return int(answered.body["id"])

    def _send_volume(self) -> int:
        """Send the file in a folder of a volume; its paths begin at the root of that."""
        client, contents = self._client, {LOAD_FILE: self._plan.data}
        contents |= {path.replace("\\", "/"): path.encode() for path in sorted(self._plan.files)}
        created = client.change("POST", "/volumes", {"case": self._plan.case, "name": "VOL001"})
        self._course.volume_id = created.body["id"]
        path = f"/volumes/{self._course.volume_id}"
        files = [{"path": name, "size": len(data)} for name, data in contents.items()]
        for each in client.change("POST", f"{path}/files", files).body["items"]:
            until(partial(put_to, each["upload"], contents[each["path"]]), "the upload of a file")
        self._request_import(path)
        return int(until(partial(self._find_import, path), f"{path} to be ready"))

    def _request_import(self, path: str) -> None:
        answered = self._client.change("POST", f"{path}/import", {})
        expect(self._client, answered.status == 200, "importing a volume", answered)

    def _find_import(self, path: str) -> int | None:
        state = self._client.get(path).body
        if state["status"] == "failed":
            # What the application gave up is requested again.
            self._request_import(path)
        return max((each["id"] for each in state["imports"]), default=None) if state["status"] == "ready" else None

    def _take(self, step: CorrectionStep) -> None:
        taken = self._send(step.request, step.rival)
        if step.is_cancelled:
            for import_id in taken:
                self._cancel_and_retry(import_id, step.other)
        self._wait(taken)
        if step.is_repeated:
            self._wait(self._send(step.request))
        if step.is_undone:
            for import_id in taken:
                self._undo(import_id)
        self._look()

    def _send(self, request: CorrectionRequest, rival: CorrectionRequest | None = None) -> list[int]:
        """Send a request, or two at once; return the imports of their rows."""
        sent = [(self._client, request), (self._second, rival)]
        calls = [partial(self._post, who, each) for who, each in sent if each]
        answers = together(*calls) if rival else [each() for each in calls]
        # What was accepted comes first: it is why the other one was refused. Of two, the ids have their order.
        pairs = zip((each for _, each in sent if each), answers, strict=True)
        for each, answered in sorted(pairs, key=lambda pair: (pair[1].status, pair[1].body.get("id") or 0)):
            self._note(each, answered)
        return [each.body["id"] for each in answers if each.status == 201 and each.body["id"]]

    def _post(self, client: Client, request: CorrectionRequest) -> Answered:
        rows = [{"line": row.line, "cells": row.cells} for row in request.rows]
        body: dict[str, Any] = {"rows": rows, "discard": request.discarded}
        return client.change("POST", f"/imports/{self._course.import_id}/corrections", body)

    def _note(self, request: CorrectionRequest, answered: Answered) -> None:
        expect(self._client, answered.status in (201, 422), "correcting rows", answered)
        if answered.status == 201:
            self._course.events.append(Taken(answered.body["id"], request))
        elif answered.status == 422:
            self._course.events.append(Refused(request))

    def _wait(self, taken: Sequence[int]) -> None:
        """Wait for the end of corrections that are not left cancelled."""
        left = {each.import_id for each in self._course.events if isinstance(each, Retried) and not each.is_accepted}
        for import_id in taken:
            if import_id not in left:
                see_to(self._client, import_id)
                self._note_end(import_id)

    def _note_end(self, import_id: int) -> None:
        """Note whether the rows have been processed; those of a chunk that failed have not."""
        found = self._client.get(f"/imports/{import_id}").body
        expect(self._client, found["status"] in ENDED, "correcting rows", found)
        processed = sum(found[name] for name in ("imported", "unchanged", "updated", "rejected"))
        self._course.events.append(Ended(import_id, processed > 0 and not found["chunksFailed"]))

    def _cancel_and_retry(self, import_id: int, other: CorrectionRequest | None) -> None:
        """Cancel a correction, have others take some of its lines or not, and retry it."""
        path = f"/imports/{import_id}"
        if self._client.change("POST", f"{path}/cancel").status != 200:
            return
        self._note_end(import_id)
        if other is not None:
            self._wait(self._send(other))
        answered = self._client.change("POST", f"{path}/retry")
        expect(self._client, answered.status in (200, 409), "retrying a correction", answered)
        self._course.events.append(Retried(import_id, answered.status == 200))

    def _undo(self, import_id: int) -> None:
        if self._client.get(f"/imports/{import_id}").body["status"] not in (*COMPLETED, "cancelled"):
            return
        if request_undo(self._client, import_id) is not None:
            result = wait_for_undo(self._client, import_id)
            expect(self._client, result["status"] == "undone", "undoing a correction", result)
            self._course.events.append(Undone(import_id))

    def _undo_file(self) -> None:
        """Undo the import of the file: its corrections stay, and there are no more of them."""
        if request_undo(self._client, self._course.import_id) is not None:
            wait_for_undo(self._client, self._course.import_id)
            self._course.is_undone = True
            answered = self._post(self._client, self._plan.steps[0].request)
            expect(self._client, answered.status == 409, "correcting rows of an import that is undone", answered)
            self._look()

    def _look(self) -> None:
        """Note which rows are open; nothing runs meanwhile."""
        path, lines, after = f"/imports/{self._course.import_id}", list[int](), ""
        while True:
            page = self._client.get(f"{path}/rejected-rows?open=true&limit={ROWS_A_PAGE}{after}").body
            lines += [each["line"] for each in page["items"]]
            if not page["next"]:
                break
            after = f"&after={page['next']}"
        count = self._client.get(path).body["openRejections"]
        self._course.events.append(Looked(count, lines, self._course.is_undone))
