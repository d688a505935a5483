"""Tag all documents that match filters, by a job of the stack."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.catalog.progress import Line, explain_going_on
from exhibit_ingest.catalog.values import quote
from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.following import Work, follow
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.session import Session

_OPEN = ("running", "counting")


@dataclass
class Tagging:
    """What was done: how many documents were reached, and how many of them got or lost the tag."""

    tag: str
    is_added: bool
    documents: int = 0
    changed: int = 0
    job_id: int | None = None
    status: str = "completed"
    remaining: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it for programs."""
        count = "created" if self.is_added else "removed"
        return {
            "tag": self.tag,
            "documents": self.documents,
            count: self.changed,
            "job_id": self.job_id,
            "status": self.status,
            "remaining": self.remaining,
        }

    def describe(self) -> str:
        """Return it for people."""
        tag = quote(self.tag)
        if self.is_added:
            others = self.documents - self.changed
            had = f"; {others:,} had it before" if others else ""
            text = f"{format_count(self.changed, 'document')} got the tag {tag}{had}."
        else:
            text = f"{self.changed:,} of {format_count(self.documents, 'document')} lost the tag {tag}."
        if self.remaining:
            text += f" {self.remaining:,} were added or changed meanwhile: run the command again for them."
        return text


def run_job(session: Session, case: str, filters: Mapping[str, Any], tag: str, *, is_added: bool) -> Tagging:
    """Tag or untag the documents that match, and return what was done; show how far it is.

    If the wait is interrupted, the job is cancelled; tags that it has set stay. If it does not change, it goes on.
    Raises CommandError, also for a job that another user cancels or that fails.
    """
    body = {"case": case, "query": dict(filters), "add": [tag] if is_added else [], "remove": [] if is_added else [tag]}
    job = session.api.request("POST", "/tagging-jobs", body)
    job = _wait(session, job)
    if job["status"] != "completed":
        raise CommandError(
            f"Tagging job {job['id']} is {job['status']}, after {job['tagged']:,} documents, which stay changed."
            " Run the command again for the others."
        )
    changed = job["created" if is_added else "removed"]
    return Tagging(tag, is_added, job["tagged"], changed, job["id"], job["status"], job["remaining"] or 0)


def _wait(session: Session, job: dict[str, Any]) -> dict[str, Any]:
    line, path = Line(sys.stderr), f"/tagging-jobs/{job['id']}"

    def show(state: dict[str, Any]) -> None:
        of = f" of {state['expected']:,}" if state["expected"] and not state["expectedIsLowerBound"] else ""
        line.show(f"Tagging job {state['id']}: {state['tagged']:,}{of} documents")

    def abandon() -> str:
        try:
            session.api.request("POST", f"{path}/cancel")
        except CommandError:
            return f"tagging job {job['id']} may go on: it could not be cancelled."
        return f"tagging job {job['id']} is cancelled; what it has changed stays. Run the command again for the others."

    def read() -> dict[str, Any]:
        return session.api.request("GET", path)

    def explain(_: dict[str, Any]) -> str:
        return explain_going_on(session)

    name = f"Tagging job {job['id']}"
    work = Work(name, read, lambda state: state["status"] not in _OPEN, show, explain, None, abandon)
    try:
        return follow(session.machine, work, state=job)
    finally:
        line.clear()
