"""The first and last Bates number of an import, to hold against the sender's letter."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from exhibit_ingest.importing.result import BatesRange
from exhibit_ingest.importing.state import CHECKED, ImportState

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session


def read_bates(session: Session, state: ImportState) -> BatesRange | None:
    """Return the first and last Bates number of the documents of an import; None if it has none, or was a check.

    None too if the stack cannot find them in time, among tens of millions: the import has ended all the same. Raises
    CommandError.
    """
    from exhibit_ingest.client.answers import ApiError

    fields = {each["field"] for each in state.details.get("columns") or ()}
    if state.failed or state.status == CHECKED or "bates_begin" not in fields:
        return None
    try:
        found = session.api.request("GET", f"/imports/{state.id}/bates")
    except ApiError as exc:
        if exc.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        return None
    return BatesRange(found["first"], found["last"]) if found["first"] else None
