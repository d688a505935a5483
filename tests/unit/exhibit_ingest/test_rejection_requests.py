"""What `rejections` requests of a stack: lines in batches, the imports of pages that follow, and where others won."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from core.imports.corrections import MAX_ROWS
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.exit_codes import REJECTED
from exhibit_ingest.rejections.discarding import MOST_LINES, discard_rows
from exhibit_ingest.rejections.fixing import _choose_code, _list_images
from exhibit_ingest.rejections.outcome import RowsRefusedError
from exhibit_ingest.session.session import Session

STATE = {"id": 7, "fileName": "a.dat", "case": "acme"}


class PlayedCorrections:
    """An API that takes lines to discard until `refused_from`, and lists what it is given."""

    def __init__(self, lines: int = 0, refused_from: int = 10**6, imports: list[Any] | None = None) -> None:
        self.batches: list[list[int]] = []
        self._lines, self._refused_from = lines, refused_from
        self._imports = imports or []

    def request(self, method: str, path: str, body: Any = None, *_: object) -> Any:
        if method == "GET" and "/rejections" in path:
            return {"items": [{"line": line} for line in range(1, self._lines + 1)], "next": None}
        if method == "GET":
            return {"items": self._imports, "next": None} if path.startswith("/imports?") else STATE
        if max(body["discard"]) >= self._refused_from:
            problem = {
                "type": "urn:exhibit-ingest:problem:correction-refused",
                "errors": [{"location": "body/discard/0", "message": f"Line {line} is taken."} for line in range(25)],
            }
            raise ApiError("refused", 422, problem)
        self.batches.append(body["discard"])
        return {"openRejections": 5}


def discard(api: Any, **given: Any) -> Any:
    options = {"import_id": 7, "discard": None, "discard_code": None, "yes": True, **given}
    line: Any = Quiet()
    return discard_rows(build_session(api), argparse.Namespace(**options), line)


class Quiet:
    """A status line that no one sees."""

    def show(self, line: str) -> None: ...


def build_session(api: Any) -> Session:
    return Session(api, "firm", {"tenantId": "t"}, Path("/nowhere"))


def test_the_open_rows_of_a_code_are_discarded_in_requests_of_the_size_that_the_api_takes() -> None:
    api = PlayedCorrections(lines=2_500)
    outcome = discard(api, discard_code="MISSING_ID")
    assert MOST_LINES == MAX_ROWS
    assert [len(batch) for batch in api.batches] == [1_000, 1_000, 500]
    assert outcome.document == {"import": 7, "discarded": 2_500, "open_rejections": 5}


def test_lines_that_others_have_are_named_with_what_was_discarded_before() -> None:
    with pytest.raises(RowsRefusedError) as refused:
        discard(PlayedCorrections(lines=2_500, refused_from=1_500), discard_code="MISSING_ID")
    text = str(refused.value)
    assert refused.value.exit_code == REJECTED
    assert text.startswith("1,000 rows were discarded before, and none of the others. Line 0 is taken. Line 1 is")
    assert text.endswith("Line 19 is taken. And 5 more.")
    with pytest.raises(RowsRefusedError, match=r"^No row was discarded\. Line 0"):
        discard(PlayedCorrections(refused_from=3), discard=[3, 3])


def test_the_imports_of_pages_that_follow_corrected_rows_of_a_volume_are_waited_for() -> None:
    follower = {"volumeId": 4, "kind": "images", "corrects": 8}
    imports = [
        {**follower, "id": 12},
        {**follower, "id": 11, "volumeId": 5},
        {**follower, "id": 10, "corrects": None},
        {**follower, "id": 9},
        {**follower, "id": 6},
    ]
    session = build_session(PlayedCorrections(imports=imports))
    assert _list_images(session, {"volumeId": 4, "caseId": 1}, 8) == [9, 12]
    assert _list_images(session, {"volumeId": None, "caseId": 1}, 8) == []


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([("completed", 0)], 0),
        ([("completed_with_rejections", 1)], 3),
        ([("completed", 0), ("completed_with_rejections", 2)], 3),
        ([("completed_with_rejections", 1), ("failed", 0)], 1),
        ([("cancelled", 0)], 1),
    ],
)
def test_the_exit_code_is_that_of_the_rows_and_of_the_pages_that_follow(
    states: list[tuple[str, int]], code: int
) -> None:
    assert _choose_code([{"status": status, "rejected": rejected} for status, rejected in states]) == code
