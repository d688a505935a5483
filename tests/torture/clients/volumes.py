"""Users who send volumes to a case, import them, take the imports back and delete what no document needs any more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import Client
from tests.torture.clients.contention import at_once
from tests.torture.clients.undos import request_undo, wait_for_undo
from tests.torture.clients.users import ENDED, expect, put_to, see_to, until
from tests.torture.models.stored_documents import read_case
from tests.torture.models.stored_volumes import SentVolume, VolumeCourse, VolumeRun, VolumeUndo
from tests.torture.plans.volumes import IMAGES, OWN_ROWS, ROWS, VolumeCasePlan, VolumePlan

# Files are declared in several requests.
FILES_A_REQUEST = 20
# What the application gives up after all attempts, and a user requests again.
GIVEN_UP = frozenset({"NOT_LISTED", "NOT_EXPANDED"})
# A deletion that was given up is requested again after so many looks.
PATIENT_LOOKS = 20


class VolumeKeeper:
    """Does with a case what the plan says, step by step; `second` is another client of the same tenant."""

    def __init__(self, client: Client, second: Client, committed: Queried, plan: VolumeCasePlan) -> None:
        self._client, self._second, self._committed, self._plan = client, second, committed, plan
        self._course, self._is_held = VolumeCourse(plan), plan.is_held
        client.ledger.volumes[plan.case] = self._course

    def run(self) -> None:
        """Until everything of the plan is done."""
        own = self._send(self._client, self._plan.volume)
        if self._plan.is_checked:
            self._import(own, is_check=True)
        if self._plan.is_twice:
            self._import_by_two(own)
        else:
            self._import(own)
        if self._plan.is_repeated:
            self._import(own)
        if self._plan.overlays:
            self._overlay()
        self._undo_all(own)
        self._end(own)

    def _send(self, client: Client, plan: VolumePlan) -> SentVolume:
        archive = {"archive": {"fileName": "volume.zip", "size": len(plan.archive)}} if plan.is_zip else {}
        answered = client.change("POST", "/volumes", {"case": self._plan.case, "name": plan.name, **archive})
        expect(client, answered.status == 201, "creating a volume", answered)
        sent = SentVolume(plan, answered.body["id"], answered.body["prefix"])
        self._course.sent.append(sent)
        if plan.is_zip:
            until(partial(put_to, answered.body["upload"], plan.archive), "the upload of a zip")
        else:
            self._put_files(client, sent)
        return sent

    def _put_files(self, client: Client, sent: SentVolume) -> None:
        """Declare all files, and put them; where that is early, the import is refused between two of them."""
        uploads = list(self._declare(client, sent))
        for number, each in enumerate(uploads):
            if self._plan.is_early and number == len(uploads) // 2:
                answered = client.change("POST", f"/volumes/{sent.volume_id}/import", _build_request(sent))
                expect(client, answered.status == 409, "importing a volume that is not there", answered)
            until(partial(put_to, each["upload"], sent.plan.sent[each["path"]]), "the upload of a file")

    def _declare(self, client: Client, sent: SentVolume) -> Iterator[dict[str, Any]]:
        files = [{"path": path, "size": len(data)} for path, data in sent.plan.sent.items()]
        for each in files[::2]:
            each["sha256"] = hashlib.sha256(sent.plan.sent[str(each["path"])]).hexdigest()
        for start in range(0, len(files), FILES_A_REQUEST):
            batch = files[start : start + FILES_A_REQUEST]
            answered = client.change("POST", f"/volumes/{sent.volume_id}/files", batch)
            expect(client, answered.status == 200, "declaring files", answered)
            yield from answered.body["items"]

    def _import(self, sent: SentVolume, *, is_check: bool = False) -> None:
        self._request(self._client, sent, is_check=is_check)
        self._course.steps += [[run] for run in self._wait(self._client, sent, is_check=is_check)]

    def _request(self, client: Client, sent: SentVolume, *, is_check: bool = False) -> None:
        body = _build_request(sent, is_check=is_check, is_held=self._is_held and not is_check)
        answered = client.change("POST", f"/volumes/{sent.volume_id}/import", body)
        expect(client, answered.status == 200, "importing a volume", answered)
        sent.accepted += answered.status == 200

    def _import_by_two(self, sent: SentVolume) -> None:
        """Have the import requested by two at once: one is accepted, unless it has ended when the other one comes."""
        place = ("POST", f"/volumes/{sent.volume_id}/import", _build_request(sent))
        answers = at_once(self._client, self._second, *place)
        statuses = sorted(each.status for each in answers)
        expect(self._client, statuses in ([200, 409], [200, 200]), "importing a volume at once", answers)
        accepted = statuses.count(200)
        sent.accepted += accepted
        self._course.steps += [[run] for run in self._wait(self._client, sent, accepted=accepted)]

    def _wait(
        self, client: Client, sent: SentVolume, *, is_check: bool = False, accepted: int = 1
    ) -> Iterator[VolumeRun]:
        """Yield the runs that the last requests have led to, each once its imports have ended."""
        kinds = [ROWS, IMAGES] if sent.plan.has_rows else [IMAGES]
        known = {each for run in self._course.runs if run.sent is sent for each in run.imports.values()}
        look = partial(self._list_new, client, sent, known, accepted * len(kinds), is_check)
        found: list[dict[str, Any]] = until(look, f"volume {sent.volume_id} to be ready")
        if [each["kind"] for each in found] != kinds * accepted:
            client.ledger.complain(f"doubled: volume {sent.volume_id} was requested {accepted} times and has {found}")
        if self._is_held and not is_check:
            self._run_held(sent, [each["id"] for each in found])
        for start in range(0, len(found), len(kinds)):
            run = VolumeRun(sent, is_check, {each["kind"]: each["id"] for each in found[start : start + len(kinds)]})
            for kind, import_id in run.imports.items():
                see_to(client, import_id, ENDED | {"checked"})
                run.answers[kind] = client.get(f"/imports/{import_id}").body
            yield run

    def _run_held(self, sent: SentVolume, imports: list[int]) -> None:
        """Change the options of the data file, and so of its images; have them checked or not, and run the volume."""
        client, self._is_held = self._client, False
        for import_id in reversed(imports):
            body = {"options": _build_options(sent)}
            answered = client.change("PUT", f"/imports/{import_id}/options", body, if_match='"1"')
            expect(client, answered.status == (200 if import_id == imports[0] else 409), "changing options", answered)
        if client.draw.random() < 0.5:
            answered = client.change("POST", f"/imports/{imports[0]}/check", if_match='"2"')
            expect(client, answered.status == 200, "having a volume checked that is held", answered)
            for import_id in imports:
                see_to(client, import_id, ENDED | {"checked"})
        place, accepts = f"/volumes/{sent.volume_id}/run", {"acceptRejections": True}
        for seen, status in (('"1"', 412), ('"2"', 200)):
            answered = client.change("POST", place, accepts, if_match=seen)
            expect(client, answered.status == status, f"running a volume that is held, of version {seen}", answered)

    def _list_new(
        self, client: Client, sent: SentVolume, known: set[int], count: int, is_check: bool
    ) -> list[dict[str, Any]]:
        """Return the imports that are new, once the volume is ready and has as many."""
        state = client.get(f"/volumes/{sent.volume_id}").body
        if state["status"] == "failed":
            expect(client, state["failureCode"] in GIVEN_UP, "importing a volume", state)
            self._request(client, sent, is_check=is_check)
        new = sorted((each for each in state["imports"] if each["id"] not in known), key=lambda each: int(each["id"]))
        return new if state["status"] == "ready" and len(new) >= count else []

    def _overlay(self) -> None:
        """Have two volumes of images checked, and then run at once: they replace pages of the same documents."""
        clients = (self._client, self._second)
        with ThreadPoolExecutor(2) as pool:
            sent = list(pool.map(self._send, clients, self._plan.overlays))
            checked = list(pool.map(self._check, clients, sent))
            self._course.steps.append(list(pool.map(self._run, clients, checked)))

    def _check(self, client: Client, sent: SentVolume) -> VolumeRun:
        self._request(client, sent, is_check=True)
        return next(self._wait(client, sent, is_check=True))

    def _run(self, client: Client, checked: VolumeRun) -> VolumeRun:
        """Have images imported that were checked, by the same import."""
        path = f"/imports/{checked.images}"
        answered = client.change("POST", f"{path}/run", {"acceptRejections": True})
        expect(client, answered.status == 200, "running images that were checked", answered)
        see_to(client, checked.images)
        return VolumeRun(checked.sent, False, checked.imports, {IMAGES: client.get(path).body})

    def _undo_all(self, own: SentVolume) -> None:
        if OWN_ROWS in self._plan.undone:
            # Documents do not go before their pages.
            import_id = next(run.imports[ROWS] for run in self._course.runs if not run.is_check)
            answered = self._client.change("POST", f"/imports/{import_id}/undo", {})
            expect(self._client, answered.status == 409, "undoing rows before their images", answered)
        for which in self._plan.undone:
            sent, kind = own if which < 0 else self._course.sent[1 + which], ROWS if which == OWN_ROWS else IMAGES
            runs = [run for run in self._course.runs if run.sent is sent and not run.is_check]
            for run in reversed(runs):
                self._undo(run.imports[kind])

    def _undo(self, import_id: int) -> None:
        before = read_case(self._client.ledger.tenant, self._committed, self._plan.case)
        number = request_undo(self._client, import_id)
        if number is not None:
            undo = VolumeUndo(import_id, number, before)
            self._course.steps.append(undo)
            undo.result = wait_for_undo(self._client, import_id)

    def _end(self, own: SentVolume) -> None:
        if self._plan.end == "again":
            self._import(own)
        if self._plan.end == "delete":
            for sent in self._course.sent:
                self._delete(sent)

    def _delete(self, sent: SentVolume) -> None:
        """Delete a volume, which is refused while documents need it."""
        client, path = self._client, f"/volumes/{sent.volume_id}"
        statuses = {each["status"] for each in client.get(path).body["imports"]}
        is_free = statuses <= {"undone", "checked"}
        answered = client.change("DELETE", path)
        expect(client, answered.status == (200 if is_free else 409), f"deleting a volume of {statuses}", answered)
        if answered.status == 200:
            sent.is_deleted = True
            looks = iter(range(1, 10_000))
            until(lambda: self._is_deleted(path, next(looks)), f"{path} to be deleted")

    def _is_deleted(self, path: str, look: int) -> bool:
        if look % PATIENT_LOOKS == 0:
            self._client.change("DELETE", path)
        return bool(self._client.get(path).body["status"] == "deleted")


def _build_request(sent: SentVolume, *, is_check: bool = False, is_held: bool = False) -> dict[str, Any]:
    named = {} if sent.plan.has_rows else {"imageLoadFile": sent.plan.image_file}
    options = _build_options(sent, is_wrong=is_held)
    return {"options": options, "dryRun": is_check, "hold": is_held, **named}


def _build_options(sent: SentVolume, *, is_wrong: bool = False) -> dict[str, str]:
    """Return the options with which a volume is imported; wrong ones say otherwise what is done about missing files."""
    rejects = sent.plan.rejects_missing != is_wrong
    return {"mode": sent.plan.mode, "missing_files": "reject" if rejects else "warn"}
