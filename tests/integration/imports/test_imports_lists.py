"""What the API tells of imports: all of the tenant's, nothing of others, page by page, in a few statements."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from core.contracts.queries import ImportQuery
from core.errors import InvalidInputError
from core.pagination import encode_cursor
from core.statuses import ImportStatus
from shell.imports.queries import get_import, list_imports
from shell.imports.results import list_rejections, list_warnings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    CALLER,
    STRANGER,
    THREE,
    announce,
    cancel,
    put,
    retry,
    run_chunks,
    start,
    state,
)
from tests.support.application.driver import World, request_messages
from tests.support.database.server_status import statements

REJECTION = (
    "INSERT INTO import_rejections (import_id, line_no, seq, chunk_no, code, message, byte_start, byte_len) "
    "VALUES (:id, :line, :seq, 1, 'MISSING_ID', 'no id', 0, 1)"
)
WARNING = (
    "INSERT INTO import_warnings (import_id, line_no, seq, chunk_no, code, message, original) "
    "VALUES (:id, :line, :seq, 1, 'INVALID_DATE', 'no date', :original)"
)
PLACES = [(line, seq) for line in (0, 2, 3, 7) for seq in range(4)] + [(9, 1_000_000), (9, 2_000_000)]


def pages(limit: int, case: str | None = None, status: ImportStatus | None = None) -> Iterator[list[int]]:
    """The ids of all pages of the list."""
    after = None
    while True:
        page = list_imports(CALLER, ImportQuery(case=case, status=status, limit=limit, after=after))
        yield [item.id for item in page.items]
        after = page.next
        if after is None:
            return


def test_the_pages_show_every_import_once_and_the_newest_first(world: World) -> None:
    ids = [announce().id for _ in range(5)]
    announce(STRANGER)
    for limit, sizes in ((1, [1] * 5), (5, [5]), (500, [5])):
        found = list(pages(limit))
        assert [len(page) for page in found] == sizes
        assert [each for page in found for each in page] == ids[::-1]
    reading = pages(2)
    first = next(reading)
    announce()
    assert [first, *reading] == [ids[:2:-1], ids[2:0:-1], ids[:1]], "a new import does not shift the pages"


def test_the_list_can_be_of_one_case_and_in_one_status(world: World) -> None:
    ours, other = announce(case="Case").id, announce(case="Other").id
    cancelled = announce(case="Case").id
    cancel(cancelled)
    assert list(pages(10, case="Case")) == [[cancelled, ours]]
    assert list(pages(10, status=ImportStatus.AWAITING_UPLOAD)) == [[other, ours]]
    assert list(pages(10, case="Case", status=ImportStatus.CANCELLED)) == [[cancelled]]


def test_the_pages_show_every_rejection_and_warning_once(world: World) -> None:
    """A line may have several, and a page may end between them."""
    import_id = announce().id
    for line, seq in PLACES:
        world.query(REJECTION, id=import_id, line=line, seq=seq)
        world.query(WARNING, id=import_id, line=line, seq=seq, original=None)
    for limit in (1, 3, 5, 100):
        for listing in (list_rejections, list_warnings):
            lines, after = [], None
            while True:
                page = listing(CALLER, import_id, limit, after)
                lines.append([item.line for item in page.items])
                after = page.next
                if after is None:
                    break
            assert [line for part in lines for line in part] == [line for line, _ in PLACES]
            assert all(len(part) == limit for part in lines[:-1])


def test_a_cursor_of_another_list_is_an_invalid_input(world: World) -> None:
    import_id, after = announce().id, encode_cursor(1, 2, 3)
    with pytest.raises(InvalidInputError):
        list_imports(CALLER, ImportQuery(after=after))
    for listing in (list_rejections, list_warnings):
        with pytest.raises(InvalidInputError):
            listing(CALLER, import_id, 10, after)


def test_a_list_takes_the_same_few_statements_however_long_it_is(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    assert start(put(announce(), THREE))
    list_imports(CALLER, ImportQuery())
    one = statements(world, lambda: list_imports(CALLER, ImportQuery()))
    for _ in range(3):
        assert start(put(announce(), THREE))
    many = statements(world, lambda: list_imports(CALLER, ImportQuery()))
    assert one == many <= 4
    import_id = announce().id
    assert statements(world, lambda: get_import(CALLER, import_id)) <= 7
    assert statements(world, lambda: list_rejections(CALLER, import_id, 10, None)) <= 6


def test_a_running_import_tells_its_pace_and_the_time_left(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, THREE))
    assert (state(pending.id).rows_per_second, state(pending.id).seconds_left) == (None, None)
    assert world.import_chunk(world.chunk_messages()[0])
    world.query("UPDATE imports SET started_at = started_at - INTERVAL 100 SECOND")
    progress = state(pending.id)
    assert (progress.rows_processed, progress.imported, progress.chunks) == (1, 1, 3)
    assert progress.rows_per_second == pytest.approx(0.01, rel=0.2)
    assert progress.seconds_left == pytest.approx(200, rel=0.2)
    cancel(pending.id)
    retry(pending.id)
    progress = state(pending.id)
    assert (progress.rows_processed, progress.rows_per_second) == (1, None), (
        "the pace of a retry is of what came in since"
    )


def test_the_original_of_a_changed_value_is_reported_unchanged(world: World) -> None:
    pending = announce()
    assert start(put(pending, "Control Number,Date\r\nA-1,gestern früh\r\n".encode()))
    run_chunks(world)
    warned = list_warnings(CALLER, pending.id, 10, None).items
    originals = {each.code: each.original for each in warned}
    assert base64.b64decode(originals["INVALID_DATE"] or "") == "gestern früh".encode()
    assert request_messages() == []
