"""The state machine of an import, as the page of the API draws it; and what sets of statuses say of each one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from core.imports import steps
from core.imports.steps import ImportAction, build_table, find_next, list_actions, list_facts
from core.statuses import ACTIVE_STATUSES, UNDONE_STATUSES, ImportStatus
from shell.imports import steps as operations
from shell.imports import upload_expiry, upload_matching
from shell.imports.pages import queries as page_queries
from shell.imports.pages import sources
from shell.imports.splitting import checkpoint_store, former_split, registration
from shell.imports.state import dependents
from shell.imports.undo import commands as undo_commands
from shell.imports.undo import pages as undo_pages
from shell.volumes import commands as volume_commands
from shell.volumes import runs, unreferenced

_STATUS = re.compile(r"'([a-z_]+)'")
S = ImportStatus
_ENDED = {S.COMPLETED, S.COMPLETED_WITH_REJECTIONS}
_BEFORE = {S.AWAITING_UPLOAD, S.UPLOADED, S.WAITING, S.BLOCKED}
_STOPPED = {S.FAILED, S.CANCELLED}
_WORKED_ON = {S.SPLITTING, S.CHECKING, S.RUNNING}
# Of each set or statement: the statuses that it leaves out on purpose. A new status belongs into it or here.
LEFT_OUT: dict[str, tuple[Any, set[ImportStatus]]] = {
    "core.ACTIVE_STATUSES": (ACTIVE_STATUSES, {*_BEFORE, S.SPLITTING, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES}),
    "core.UNDONE_STATUSES": (UNDONE_STATUSES, {*_BEFORE, *_WORKED_ON, S.CHECKED, *_ENDED, *_STOPPED}),
    "steps.CANCELLABLE": (steps.CANCELLABLE, {S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES}),
    "undo.ENDED": (undo_commands.ENDED, {*_BEFORE, *_WORKED_ON, S.UNDOING, S.UNDONE}),
    "dependents._UNDER_WAY": (
        {*dependents._UNDER_WAY, *dependents._ENDED_WELL, *dependents._ENDED_BADLY},
        # A data file waits for no other one; what is undone is refused with its status.
        {S.WAITING, S.BLOCKED, *UNDONE_STATUSES},
    ),
    "dependents._RUNNING": (dependents._RUNNING, {*_BEFORE, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES}),
    "dependents._BLOCK": (
        {S.WAITING, S.UPLOADED},
        {S.AWAITING_UPLOAD, S.BLOCKED, *_WORKED_ON, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES},
    ),
    "dependents._IS_RELEASED": (
        {S.WAITING, S.BLOCKED},
        {S.AWAITING_UPLOAD, S.UPLOADED, *_WORKED_ON, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES},
    ),
    "operations._LOCK_IMAGES": (
        operations._LOCK_IMAGES,
        # While they are worked on, the request is refused; those that a user cancelled stay cancelled.
        {S.AWAITING_UPLOAD, *_WORKED_ON, *_ENDED, S.CANCELLED, *UNDONE_STATUSES},
    ),
    "runs._HELD": (runs._HELD, {*_BEFORE - {S.UPLOADED}, *_WORKED_ON, *_ENDED, *_STOPPED, *UNDONE_STATUSES}),
    "volumes._BUSY": (volume_commands._BUSY, {S.BLOCKED, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES}),
    "volumes._WITHOUT_ROWS": (
        {*volume_commands._WITHOUT_ROWS, S.UNDONE},
        {S.AWAITING_UPLOAD, S.UPLOADED, S.WAITING, *_WORKED_ON, *UNDONE_STATUSES - {S.UNDONE}},
    ),
    "upload_matching._BIND_UPLOAD": (
        upload_matching._BIND_UPLOAD,
        # Their file is there, or came after they failed: a later file is an import of its own.
        {S.WAITING, S.BLOCKED, S.CHECKING, S.CHECKED, S.RUNNING, *_ENDED, S.FAILED, *UNDONE_STATUSES},
    ),
    "upload_expiry": (
        {upload_expiry._AWAITED.status, upload_expiry._HELD.status},
        # Images wait for a data file, which expires; a check has a result to look at.
        {S.WAITING, S.BLOCKED, *_WORKED_ON, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES},
    ),
    "undo._LIVE_IMAGES": (
        # Besides these, any with a chunk that was imported.
        undo_pages._LIVE_IMAGES,
        {*_BEFORE, S.CHECKING, S.CHECKED, *_ENDED, *_STOPPED, *UNDONE_STATUSES},
    ),
    "unreferenced._LAST_IMPORTS": (
        # Without an end, what is not named here runs and stops the list.
        unreferenced._LAST_IMPORTS,
        {S.AWAITING_UPLOAD, S.WAITING, *_WORKED_ON, *_ENDED, *_STOPPED, *UNDONE_STATUSES - {S.UNDONE}},
    ),
    "former_split._LOCK": (former_split._LOCK, set(S) - {S.SPLITTING}),
    "registration._REGISTER": (registration._REGISTER, set(S) - {S.SPLITTING}),
    "checkpoint_store._ADVANCE": (checkpoint_store._ADVANCE, set(S) - {S.SPLITTING}),
    "sources._ENDED": (sources._ENDED, {*_BEFORE, *_WORKED_ON, *_STOPPED, *UNDONE_STATUSES}),
    "pages._ENDED_WELL": (page_queries._ENDED_WELL, {*_BEFORE, *_WORKED_ON, *_STOPPED, *UNDONE_STATUSES}),
}


def named(found: Any) -> set[ImportStatus]:
    """The statuses that a set or a statement names."""
    if isinstance(found, Iterable) and not isinstance(found, str):
        return {ImportStatus(each) for each in found}
    return {S(each) for each in _STATUS.findall(str(found)) if each in set(S)}


def unclassified(found: Any, left_out: set[ImportStatus], statuses: Iterable[str]) -> set[str]:
    """The statuses that are neither named nor left out."""
    return set(statuses) - named(found) - left_out


@pytest.mark.parametrize("name", LEFT_OUT)
def test_every_set_of_statuses_names_or_leaves_out_each_one(name: str) -> None:
    found, left_out = LEFT_OUT[name]
    assert unclassified(found, left_out, S) == set()
    assert named(found) & left_out == set()


def test_a_new_status_is_found_in_every_set() -> None:
    assert all(unclassified(*each, [*S, "new"]) == {"new"} for each in LEFT_OUT.values())


def test_the_page_of_the_api_draws_the_state_machine() -> None:
    page = Path("docs/api.md").read_text("utf-8")
    assert "\n".join(build_table()) in page


def test_what_is_listed_is_what_has_a_result_and_no_request_leads_to_an_end() -> None:
    for status in ImportStatus:
        for facts in list_facts(status):
            for action in ImportAction:
                result = find_next(action, facts)
                assert (action in list_actions(facts)) == (result is not None)
                assert result not in {*_ENDED, S.FAILED, *UNDONE_STATUSES}


def test_nothing_but_a_request_for_it_leads_from_a_held_import_to_work() -> None:
    held = [each for each in list_facts(S.UPLOADED) if each.wanted == "hold"]
    assert held
    for facts in held:
        worked_on = {action for action in ImportAction if find_next(action, facts) in _WORKED_ON}
        assert worked_on == {ImportAction.CHECK, ImportAction.RUN}
    for stopped in (S.CANCELLED, S.BLOCKED):
        for facts in list_facts(stopped):
            if facts.wanted == "hold" and facts.is_uploaded:
                assert find_next(ImportAction.RETRY, facts) is S.UPLOADED


def test_images_take_no_step_of_their_own_after_a_data_file() -> None:
    for status in ImportStatus:
        for facts in list_facts(status):
            after = facts._replace(follows=True)
            assert not {ImportAction.OPTIONS, ImportAction.CHECK, ImportAction.RUN} & set(list_actions(after))
