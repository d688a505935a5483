"""A user who fills a case, closes it and has it purged, while others are at work in other cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import BY_CASE, Answered, Client
from tests.torture.clients.cases import HOLD, LATER, LIFT
from tests.torture.clients.contention import together
from tests.torture.clients.undos import request_undo, wait_for_undo
from tests.torture.clients.users import expect, put_to, see_to, until
from tests.torture.models.purged_cases import PurgeCourse, read_contents
from tests.torture.plans.purges import DEVICE, PurgePlan

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_BUSY = (
    "SELECT COUNT(*) FROM imports WHERE case_id = :id AND (status NOT IN ('completed', 'completed_with_rejections', "
    "'undone') OR (status <> 'undone' AND (reports_generation <> generation OR codes_generation <> generation)))"
)


class Place(NamedTuple):
    """Where the case is seen past the API; `wake` wakes a worker for purges, as the hourly run does."""

    committed: Queried
    s3: S3Client
    bucket: str
    wake: Callable[[], object]


class Purger:
    """Fills a case and purges it; `second` is another client of the same tenant."""

    def __init__(self, client: Client, second: Client, place: Place, plan: PurgePlan) -> None:
        self._client, self._second, self._place, self._plan = client, second, place, plan
        self._course = PurgeCourse(plan, frozenset({client.name, second.name}))
        client.ledger.purges.append(self._course)

    def run(self) -> None:
        """Until the case is purged."""
        self._fill()
        self._request_later()
        course, place, tenant = self._course, self._place, self._client.ledger.tenant
        until(lambda: place.committed.query(_BUSY, id=course.case_id)[0][0] == 0, f"{self._path} to be quiet")
        course.before = read_contents(place.committed, place.s3, place.bucket, tenant, self._plan.case, course.case_id)
        self._begin()
        self._end()

    @property
    def _path(self) -> str:
        return f"/cases/{self._course.case_id}"

    def _fill(self) -> None:
        self._put_natives()
        self._course.case_id = self._client.get(f"/imports/{self._import(self._plan.data)}").body["caseId"]
        listed = self._client.get(f"/exhibits?case={self._plan.case}&limit=100").body["items"]
        exhibits = [each["id"] for each in listed]
        self._send("POST", "/taggings", {"exhibitIds": exhibits[:3], "tags": ["Own"]})
        self._send("POST", f"/exhibits/{exhibits[0]}/custodians", {"custodians": ["Own, Olga"]})
        keeper = self._send("POST", "/custodians", {"case": self._plan.case, "name": "Own, Olga"}).body["id"]
        begin = f"2026-05-{self._course.case_id % 28 + 1:02}T"
        period = {"deviceId": DEVICE, "begin": f"{begin}08:00:00Z", "end": f"{begin}09:00:00Z", "custodianId": keeper}
        self._send("POST", "/custody-periods", [period])
        if self._plan.has_volume:
            self._send_volume()
        if self._plan.is_undone:
            import_id = self._import(self._plan.undone)
            if request_undo(self._client, import_id) is not None:
                wait_for_undo(self._client, import_id)

    def _put_natives(self) -> None:
        """Put a file for each row, one of them twice, one that is deleted, and one that is begun in parts."""
        s3, bucket, plan = self._place.s3, self._place.bucket, self._plan
        prefix = f"files/{self._client.ledger.tenant}/{plan.case}/"
        for number in (*range(plan.rows), 0):
            s3.put_object(Bucket=bucket, Key=f"{prefix}{number}.txt", Body=f"native {number}".encode())
        s3.delete_object(Bucket=bucket, Key=f"{prefix}1.txt")
        s3.create_multipart_upload(Bucket=bucket, Key=f"{prefix}parts.txt")

    def _import(self, data: bytes) -> int:
        answered = self._send("POST", "/imports", {"case": self._plan.case, "fileName": "load.csv", "size": len(data)})
        until(partial(put_to, answered.body["upload"], data), "an upload")
        see_to(self._client, answered.body["id"])
        return int(answered.body["id"])

    def _send_volume(self) -> None:
        volume = self._send("POST", "/volumes", {"case": self._plan.case, "name": "VOL001"}).body["id"]
        files = [{"path": f"NATIVES/{number}.txt", "size": 3} for number in range(3)]
        for each in self._send("POST", f"/volumes/{volume}/files", files).body["items"]:
            until(partial(put_to, each["upload"], b"own"), "the upload of a file")

    def _send(self, method: str, path: str, body: Any, **how: Any) -> Answered:
        answered = self._client.change(method, path, body, **how)
        expect(self._client, answered.status < 300, f"{method} {path} in a case that will be purged", answered)
        return answered

    def _request_later(self) -> None:
        """Request the purge for a day that never comes: the case is closed, and nothing of it is deleted yet."""
        if self._plan.is_contested:
            seen = self._client.get(self._path).etag
            requested, held = together(
                partial(self._purge, LATER), partial(self._second.change, "PATCH", self._path, HOLD, if_match=seen)
            )
            statuses = (requested.status, held.status)
            expect(self._client, statuses in ((200, 412), (409, 200)), "purging and holding at once", statuses)
            if held.status != 200:
                return
            self._send("PATCH", self._path, LIFT, if_match=self._client.get(self._path).etag)
        requested = until(lambda: self._accept(LATER), f"the purge of {self._path} to be accepted")
        expect(self._client, requested.body["status"] == "closed", "requesting a purge", requested)

    def _purge(self, after: str) -> Answered:
        body = {"confirm": self._plan.case, "after": after}
        return self._client.change("POST", f"{self._path}/purge", body, refused_by=BY_CASE)

    def _accept(self, after: str) -> Answered | None:
        answered = self._purge(after)
        expect(self._client, answered.status in (200, 409), "requesting a purge", answered)
        return answered if answered.status == 200 else None

    def _begin(self) -> None:
        """Let the purge begin today; a hold that comes first keeps it from that, and is lifted again."""
        today = str(self._place.committed.query("SELECT UTC_DATE()")[0][0])
        self._count(self._purge(today), 200)
        self._place.wake()
        if self._plan.is_held:
            seen = self._client.get(self._path).etag
            held = self._count(self._second.change("PATCH", self._path, HOLD, if_match=seen), 200, 409)
            if held.status == 200:
                self._place.wake()
                none = self._client.get(f"{self._path}/certificate")
                expect(self._client, none.status == 404, "the certificate of a case under a hold", none)
                seen = self._client.get(self._path).etag
                self._count(self._client.change("PATCH", self._path, LIFT, if_match=seen), 200)
                self._count(self._purge(today), 200)

    def _count(self, answered: Answered, *statuses: int) -> Answered:
        """Count a request that may have been accepted: its response is of the case, and is purged too."""
        expect(self._client, answered.status in statuses, "purging and holding", answered)
        self._course.requests_since += answered.status == 200
        return answered

    def _end(self) -> None:
        """Wake a worker now and then until the purge has ended; meanwhile the case takes nothing."""
        path, is_late = f"{self._path}/certificate", self._plan.is_late
        until(lambda: self._look(path), f"the purge of {self._path} to begin")
        if is_late:
            key = f"imports/{self._client.ledger.tenant}/{self._plan.case}/late/late.csv"
            self._place.s3.put_object(Bucket=self._place.bucket, Key=key, Body=self._plan.data)
        refused = self._client.change("PATCH", self._path, HOLD, if_match="*")
        expect(self._client, refused.status == 409, "holding a case that is being purged", refused)
        until(lambda: self._look(path).get("endedAt"), f"the purge of {self._path} to end")
        self._course.certificate = self._client.get(path).body

    def _look(self, path: str) -> dict[str, Any]:
        self._place.wake()
        found = self._client.get(path)
        return dict(found.body) if found.status == 200 else {}
