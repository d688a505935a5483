"""A check that is cancelled, or whose end fails, imported nothing, and a retry finds what it would have found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

import complete_import
import import_chunk
from core.contracts.queries import CasesQuery
from shell.exhibits.case_list import list_cases
from shell.imports.checks.queries import list_findings
from shell.imports.failed_imports import handle_failed_completion
from shell.work.messages import CompletionMessage
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    CALLER,
    SIX,
    THREE,
    announce,
    cancel,
    details,
    events,
    finish,
    put,
    retry,
    start,
    state,
)
from tests.support.application.driver import World, call, complete_imports, request_messages

GAP = b"Control Number,Bates Begin,Bates End,Custodian\r\nA-1,B001,B002,Ann\r\nA-2,B005,B006,Bob\r\n"
COUNTS = ("imported", "unchanged", "updated", "rejected", "warnings")


def checked_but_for_the_end(data: bytes) -> int:
    """A check of which every chunk is done; the message that completes it is in its queue."""
    pending = announce(dryRun=True)
    assert start(put(pending, data))
    return pending.id


def fail_end(import_id: int) -> None:
    """Let every attempt to complete it fail, as the queue tells."""
    generation = state(import_id).generation
    handle_failed_completion(CompletionMessage(import_id, generation, redrive=1))
    assert state(import_id).failure_code == "NOT_COMPLETED"


def cancel_and_complete(import_id: int) -> None:
    """Cancel the check before the message that completes it arrives."""
    cancel(import_id)
    complete_imports()


ENDS = pytest.mark.parametrize("end", [fail_end, cancel_and_complete])


@ENDS
def test_a_check_that_did_not_end_has_imported_nothing(world: World, end: Callable[[int], None]) -> None:
    import_id = checked_but_for_the_end(THREE)
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)
    end(import_id)
    assert [getattr(state(import_id), name) for name in COUNTS] == [0, 0, 0, 0, 0]
    assert list_cases(CALLER, CasesQuery()).items[0].documents == 0
    assert {event["counts"]["imported"] for event in events(world, "import.cancelled")} <= {0}


@ENDS
def test_a_check_finds_the_same_however_often_its_end_is_interrupted(world: World, end: Callable[[int], None]) -> None:
    """A late message for the generation that ended must not delete what the next one needs."""
    import_id = checked_but_for_the_end(GAP)
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)
    for generation in (1, 2):
        end(import_id)
        assert call(complete_import.lambda_handler, CompletionMessage(import_id, generation).as_dict())
        assert retry(import_id).status == "checking"
        for message in request_messages():
            assert start(message)
    complete_imports()
    check = details(import_id).check
    assert check is not None
    assert ({each.code for each in check.findings}, check.new_custodians) == ({"BATES_GAP"}, 2)
    assert world.query("SELECT COUNT(*) FROM import_check_facts") == [(0,)]


def test_a_check_that_is_retried_has_no_result_until_it_ends_again(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = checked_but_for_the_end(SIX)
    first, *others = world.chunk_messages()
    for message in others:
        assert world.import_chunk(message)
    world.give_up(first)
    assert details(import_id).check is not None
    retry(import_id)
    assert details(import_id).check is None
    assert list_findings(CALLER, import_id, None, 1000, None).items == []
    finish(world)
    check = details(import_id).check
    assert check is not None
    listed = Counter(each.code for each in list_findings(CALLER, import_id, None, 1000, None).items)
    assert {each.code: each.count for each in check.findings} == listed
