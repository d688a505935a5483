"""An import that is held runs nothing; its options can be changed until what runs is what a user has looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations

import pytest

import write_import_report
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.options import SingleFileOptions
from core.contracts.queries import PreviewQuery
from core.errors import FileRefusedError, PreconditionMissingError, StaleVersionError, WrongStateError
from core.statuses import ImportStatus
from shell.imports.checks.queries import list_findings
from shell.imports.commands import cancel_import, retry_import
from shell.imports.previews import preview_import
from shell.imports.start import resume_import
from shell.imports.steps import check_import, run_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.held_imports import FILE, OTHER, RIGHT, RUN, WRONG, at_once, change, check, held, run
from tests.integration.imports.import_requests import (
    CALLER,
    announce,
    cancel,
    checked,
    committed,
    completed,
    details,
    events,
    finish,
    put,
    reports,
    retry,
    start,
    state,
)
from tests.support.application.driver import World, call, request_messages


def test_a_held_import_waits_for_a_request_and_says_what_is_possible(world: World) -> None:
    import_id = held()
    found = state(import_id)
    assert (found.status, found.wanted, found.phase, found.options_version) == ("uploaded", "hold", "check", 1)
    assert found.actions == ["options", "check", "run", "cancel"]
    assert request_messages() == world.chunk_messages() == []
    resume_import(import_id)
    assert state(import_id).status == "uploaded"


def test_options_are_changed_until_the_preview_is_right_then_it_is_checked_and_run(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(1)
    import_id = held(case="Held", options=WRONG)
    with pytest.raises(FileRefusedError):
        preview_import(CALLER, import_id, PreviewQuery())
    assert change(import_id, 1, OTHER).options_version == 2
    kept = details(import_id).options
    assert kept is not None
    assert kept.as_document() == SingleFileOptions.model_validate(OTHER).as_document()
    assert preview_import(CALLER, import_id, PreviewQuery()).columns[1].field == "control_number"
    check(import_id, 2)
    finish(world)
    assert (details(import_id).status, state(import_id).rejected) == ("checked", 0)
    changed = change(import_id, 2, RIGHT)
    assert (changed.status, changed.wanted, changed.rows_seen, changed.rejected) == ("uploaded", "hold", 0, 0)
    assert (details(import_id).check, details(import_id).columns) == (None, None)
    check(import_id, 3)
    finish(world)
    assert [each.code for each in list_findings(CALLER, import_id, None, 100, None).items] == ["MISSING_ID"]
    run(import_id, 3)
    finish(world)
    right = at_once(world, "Right", **RIGHT)
    assert world.dump(import_id) == world.dump(right)
    generation = state(import_id).generation
    assert reports(world, import_id, generation) == reports(world, right, 1)
    assert (completed(world, import_id), completed(world, right)) == ([generation], [1])
    started = [each for each in events(world, "import.started") if each["importId"] == import_id]
    assert len(started) == 1


@pytest.mark.parametrize("before", ["fewer", "more"])
def test_nothing_of_a_former_check_is_left_beside_the_next_one(
    world: World, setting: Callable[[str, str], None], before: str
) -> None:
    """Files with more chunks, duplicates and findings before, and with fewer: each chunk is of the last options."""
    rows = "".join(f"A-{n};{n % 3};x\r\n" for n in range(12))
    data = f"Number;Name;Who\r\n{rows}".encode()
    setting("CHUNK_ROWS", "5" if before == "fewer" else "2")
    import_id = held(data, options=OTHER)
    check(import_id)
    finish(world)
    assert state(import_id).rejected == 9
    setting("CHUNK_ROWS", "2" if before == "fewer" else "5")
    change(import_id, 1, RIGHT)
    check(import_id, 2)
    finish(world)
    found = details(import_id)
    assert (found.status, found.rejected, found.imported) == ("checked", 0, 12)
    assert found.check is not None
    assert found.check.findings == []
    run(import_id, 2)
    finish(world)
    assert (state(import_id).status, state(import_id).imported) == ("completed", 12)
    assert world.query("SELECT COUNT(*) FROM import_duplicates") == [(0,)]
    chunks = -(-12 // (2 if before == "fewer" else 5))
    assert world.query("SELECT COUNT(*), MAX(chunk_no) FROM import_chunks") == [(chunks, chunks)]


Step = Callable[[], object]


@pytest.mark.parametrize("wish", ["check", "import", "hold"])
@pytest.mark.parametrize("event", range(3))
def test_the_upload_and_the_requests_commute(world: World, wish: str, event: int) -> None:
    """The event arrives before the requests, between them, and after them; and again after each."""
    pending = announce(hold=True, case="Held", options=WRONG)
    message = put(pending, FILE)
    steps: list[Step] = [lambda: change(pending.id, 1, RIGHT)]
    if wish != "hold":
        steps.append(lambda: (check if wish == "check" else run)(pending.id, 2))
    steps.insert(min(event, len(steps)), lambda: start(message))
    for step in steps:
        step()
    assert start(message)
    finish(world)
    assert start(message)
    finish(world)
    expected = {"check": "checked", "import": "completed_with_rejections", "hold": "uploaded"}
    assert (state(pending.id).status, state(pending.id).options_version) == (expected[wish], 2)
    if wish == "import":
        assert world.dump(pending.id) == world.dump(at_once(world, "Right", **RIGHT))


def test_every_order_of_a_wish_and_the_event_leads_to_the_last_wish(world: World) -> None:
    for order in permutations(("event", "check", "run")):
        pending = announce(hold=True, case=" ".join(order))
        message = put(pending, b"Control Number\r\nA-1\r\n")
        steps: dict[str, Step] = {
            "event": partial(start, message),
            "check": partial(check, pending.id),
            "run": partial(run, pending.id),
        }
        for each in order:
            try:
                steps[each]()
            except WrongStateError:
                # The other one was first and is under way.
                assert order.index("event") < 2, order
        finish(world)
        assert state(pending.id).status in ("checked", "completed")
        if order[0] != "event":
            assert (state(pending.id).status == "checked") == (order.index("check") + 1 == order.index("event"))


def test_a_second_file_at_the_place_of_a_held_one_is_held_with_the_present_options(world: World) -> None:
    pending = announce(hold=True, options=WRONG)
    assert start(put(pending, FILE))
    change(pending.id, 1, RIGHT)
    run(pending.id, 2)
    finish(world)
    assert start(put(pending, FILE))
    (second,) = world.query("SELECT id FROM imports WHERE id > :id", id=pending.id)[0]
    found = state(second)
    assert (found.status, found.wanted, found.options_version) == ("uploaded", "hold", 2)
    assert world.query("SELECT COUNT(DISTINCT options) FROM imports") == [(1,)]


def test_cancel_and_retry_return_to_where_it_was_held(world: World) -> None:
    import_id = held(options=WRONG)
    cancel(import_id)
    again = retry(import_id)
    assert (again.status, again.wanted) == ("uploaded", "hold")
    assert request_messages() == []
    check_with_right_options(world, import_id)
    change(import_id, 2, OTHER)
    cancel(import_id)
    assert (retry(import_id).status, request_messages()) == ("uploaded", [])
    resume_import(import_id)
    assert state(import_id).status == "uploaded"
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def check_with_right_options(world: World, import_id: int) -> None:
    change(import_id, 1, RIGHT)
    check(import_id, 2)
    finish(world)
    assert state(import_id).status == "checked"


def test_an_import_that_was_cancelled_while_it_was_awaited_is_held_after_its_retry(world: World) -> None:
    pending = announce(hold=True)
    cancel(pending.id)
    assert start(put(pending, FILE))
    assert state(pending.id).status == "cancelled"
    assert (retry(pending.id).status, request_messages()) == ("uploaded", [])


def test_counts_of_a_former_check_are_never_those_of_an_import(world: World) -> None:
    import_id = held(options=RIGHT)
    check(import_id)
    finish(world)
    change(import_id, 1, OTHER)
    run(import_id, 2)
    # The worker that deletes the former chunks has not begun.
    found = cancel(import_id)
    assert (found.imported, found.rejected, found.chunks_failed, found.phase) == (0, 0, 0, "import")
    retry(import_id)
    finish(world)
    assert (state(import_id).status, state(import_id).imported) == ("completed", 3)


def test_a_file_that_its_options_cannot_read_is_held_again_with_others(world: World) -> None:
    import_id = held(options=WRONG)
    check(import_id)
    finish(world)
    found = state(import_id)
    assert (found.status, found.actions) == ("failed", ["options"])
    assert change(import_id, 1, RIGHT).failure_code is None
    run(import_id, 2)
    finish(world)
    assert state(import_id).imported == 2


def test_a_checked_import_is_checked_again(world: World) -> None:
    import_id = checked(world, FILE, options=RIGHT)
    assert check(import_id).status == "splitting"
    finish(world)
    assert state(import_id).status == "checked"
    run(import_id)
    finish(world)
    assert state(import_id).status == "completed_with_rejections"


def test_who_has_not_seen_the_options_changes_and_starts_nothing(world: World) -> None:
    import_id = held(options=WRONG)
    with pytest.raises(StaleVersionError) as refused:
        change(import_id, 2, RIGHT)
    assert refused.value.current_version == 1
    change(import_id, 1, RIGHT)
    for request in (check, run):
        with pytest.raises(StaleVersionError):
            request(import_id, 1)
    for unseen in (check_import, partial(run_import, body=RUN)):
        with pytest.raises(PreconditionMissingError, match='If-Match: "2"'):
            committed(unseen, CALLER, import_id)
    assert (state(import_id).status, request_messages()) == ("uploaded", [])


@pytest.mark.parametrize("status", ["splitting", "running", "completed", "cancelled", "undone"])
def test_a_refusal_names_the_status_and_what_is_possible(world: World, status: str) -> None:
    import_id = held(options=RIGHT)
    world.query("UPDATE imports SET wanted = 'import', status = :status WHERE id = :id", status=status, id=import_id)
    for request in (check, run):
        with pytest.raises(WrongStateError, match=f"status {status}") as refused:
            request(import_id)
        for action in state(import_id).actions:
            assert action in str(refused.value)
    with pytest.raises(WrongStateError, match=f"status {status}"):
        change(import_id, 1, OTHER)


def test_a_run_that_requires_an_unchanged_case_requires_a_check(world: World) -> None:
    unchanged = RunRequest.model_validate({"requireUnchanged": True})
    with pytest.raises(WrongStateError, match="was not checked with these options"):
        committed(run_import, CALLER, held(), unchanged)


@pytest.mark.parametrize("is_changed", [True, False])
def test_the_report_of_a_check_is_not_written_for_other_options(world: World, is_changed: bool) -> None:
    import_id = held(options=RIGHT)
    check(import_id)
    finish(world)
    generation = state(import_id).generation
    if is_changed:
        change(import_id, 1, OTHER)
    message = {"eventType": "import.checked", "importId": import_id, "generation": generation}
    assert call(write_import_report.lambda_handler, message)
    assert world.query("SELECT report_written FROM import_checks") == [(int(not is_changed),)]


def test_cancelling_and_retrying_is_refused_or_answered_for_every_status(world: World) -> None:
    """Whatever the API lists as possible is done, and what it does not list is refused."""
    for status in ImportStatus:
        import_id = held(case=status, options=RIGHT)
        wanted = "hold" if status in ("uploaded", "awaiting_upload", "waiting", "blocked", "cancelled") else "check"
        world.query("UPDATE imports SET status = :s, wanted = :w WHERE id = :id", s=status, w=wanted, id=import_id)
        actions = state(import_id).actions
        for action, request in (("retry", retry_import), ("cancel", cancel_import)):
            world.query("UPDATE imports SET status = :s, wanted = :w WHERE id = :id", s=status, w=wanted, id=import_id)
            if action in actions:
                committed(request, CALLER, import_id)
            else:
                with pytest.raises(WrongStateError):
                    committed(request, CALLER, import_id)
