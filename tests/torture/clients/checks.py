"""A user who has a load file checked before it is imported, reads what was found, and then imports it or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import Client
from tests.torture.clients.contention import at_once
from tests.torture.clients.ledger import Check, Upload
from tests.torture.clients.users import ENDED, Uploader, expect, see_to
from tests.torture.models.written_rows import count_written
from tests.torture.plans.load_files import CheckPlan, FilePlan

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# So small that the findings of most files take several pages.
FINDINGS_PER_PAGE = 5
ACCEPT: dict[str, dict[str, Any]] = {
    "ok": {"requireUnchanged": True},
    "warnings": {"acknowledgeWarnings": True},
    "errors": {"acceptRejections": True, "requireUnchanged": True},
}


class CheckingUploader(Uploader):
    """Uploads a file to be checked; if it is uploaded twice, it is imported first and checked afterwards.

    `second` is another client of the same tenant, for what two of them request at once.
    """

    def __init__(self, client: Client, second: Client, s3: S3Client, bucket: str, file: FilePlan, at: Queried) -> None:
        super().__init__(client, s3, bucket, file, at)
        self._second, self._plan = second, file.check or CheckPlan()

    def _bring_in(self, upload: Upload) -> None:
        is_first = upload.case not in {each.case for each in self._client.ledger.uploads}
        if self._file.is_twice and is_first:
            upload.import_id = self._upload(upload)
            self._client.ledger.uploads.append(upload)
            upload.status = see_to(self._client, upload.import_id)
        else:
            self._check(upload)

    def _check(self, upload: Upload) -> None:
        upload.import_id = self._upload(upload, is_check=True)
        check = Check(upload, self._plan.is_run, unchanged=self._file.is_twice)
        self._client.ledger.checks.append(check)
        if self._file.is_cancelled:
            self._cancel_and_retry(upload)
        status = see_to(self._client, upload.import_id, ENDED | {"checked"})
        expect(self._client, status == "checked", f"checking import {upload.import_id}", status)
        self._read(check)
        if self._plan.is_run:
            self._run(check)

    def _read(self, check: Check) -> None:
        """Read the result and all pages of the findings; before and after that, nothing of the file is in the case."""
        place, after = f"/imports/{check.upload.import_id}", ""
        self._look(check)
        while True:
            page = self._client.get(f"{place}/findings?limit={FINDINGS_PER_PAGE}{after}").body
            check.findings += page["items"]
            if not page["next"]:
                break
            after = f"&after={page['next']}"
        check.result = self._client.get(place).body["check"]
        self._look(check)

    def _look(self, check: Check) -> None:
        written = count_written(self._committed, check.upload.import_id)
        if written:
            self._client.ledger.complain(f"misplaced: the check of import {check.upload.import_id} wrote {written}")

    def _run(self, check: Check) -> None:
        """Request the run without accepting what was found, and then as it must be: of two requests one is accepted."""
        client, upload, result = self._client, check.upload, check.result
        if result is None:
            return
        path = f"/imports/{upload.import_id}/run"
        if result["status"] != "ok":
            self._is_refused(upload, {})
        client.ledger.uploads.append(upload)
        given = ("POST", path, ACCEPT[result["status"]])
        answers = at_once(client, self._second, *given) if self._plan.is_run_by_two else [client.change(*given)]
        accepted = sum(each.status == 200 for each in answers)
        if accepted > 1:
            client.ledger.complain(f"doubled: {path} was accepted {accepted} times")
        expect(client, sorted(each.status for each in answers) == [200, 409][: len(answers)], "running", answers)
        if self._plan.is_run_cancelled:
            self._cancel_and_retry(upload)
        upload.status = see_to(client, upload.import_id)

    def _while_cancelled(self, upload: Upload) -> None:
        """Request a run, which is refused: a check that was cancelled has to be retried first."""
        self._is_refused(upload, ACCEPT["errors"])

    def _is_refused(self, upload: Upload, body: dict[str, Any]) -> None:
        answered = self._client.change("POST", f"/imports/{upload.import_id}/run", body)
        expect(self._client, answered.status == 409, "running what cannot be run", answered)
