"""The state machine of an import: which requests its status allows, and to which status each leads.

`find_next` decides for the requests themselves and for what the API lists as possible; docs/api.md shows the same as a
table, which `build_table` makes.
Not decided here: what depends on other imports, such as one of the same case that is being undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from core.codes import FileFailure
from core.statuses import ACTIVE_STATUSES, ImportPhase, ImportStatus, Wish

CANCELLABLE = frozenset(
    {
        *(ImportStatus.AWAITING_UPLOAD, ImportStatus.UPLOADED, ImportStatus.SPLITTING),
        *(ImportStatus.WAITING, ImportStatus.BLOCKED, *ACTIVE_STATUSES),
    }
)


class ImportAction(StrEnum):
    """A request that changes the status of an import."""

    OPTIONS = "options"
    CHECK = "check"
    RUN = "run"
    CANCEL = "cancel"
    RETRY = "retry"


class ImportFacts(NamedTuple):
    """What decides about requests for an import.

    `is_uploaded`: its file has arrived. `is_split`: its chunks are registered. `is_incomplete`: some of its chunks were
    not processed. `follows`: it is of images that come after the import of a data file, whose steps it takes with it.
    """

    status: ImportStatus
    wanted: Wish
    phase: ImportPhase
    is_uploaded: bool
    is_split: bool
    failure_code: str | None = None
    is_incomplete: bool = False
    follows: bool = False


def choose_wish(stored: str | None, phase: str) -> Wish:
    """Return what is wanted of an import; one that was never held has no stored wish: its phase says it."""
    return Wish(stored or phase)


def list_actions(facts: ImportFacts) -> list[ImportAction]:
    """Return the requests that the import allows."""
    return [action for action in ImportAction if find_next(action, facts) is not None]


def find_next(action: ImportAction, facts: ImportFacts) -> ImportStatus | None:
    """Return the status that the request leads to, None if it is refused.

    Of images that have to wait for a data file, the status after the wait is returned.
    """
    return _RULES[action](facts)


def describe_refusal(action: ImportAction, facts: ImportFacts) -> str:
    """Return why the request is refused: the status, and what is possible."""
    possible = list_actions(facts)
    advice = f"possible now: {', '.join(possible)}" if possible else "wait until it has ended"
    return f"The import has the status {facts.status}, which does not allow {action}; {advice}."


def _after_options(facts: ImportFacts) -> ImportStatus | None:
    if facts.follows:
        return None
    if facts.status is ImportStatus.AWAITING_UPLOAD:
        return facts.status
    # Whether a file can be read depends on its options.
    is_refused = facts.status is ImportStatus.FAILED and facts.is_uploaded and not facts.is_split
    is_held = facts.status in (ImportStatus.UPLOADED, ImportStatus.CHECKED)
    return ImportStatus.UPLOADED if is_held or is_refused else None


def _after_check(facts: ImportFacts) -> ImportStatus | None:
    can_be_split = facts.status in (ImportStatus.UPLOADED, ImportStatus.CHECKED)
    return _after_start(facts, ImportStatus.SPLITTING if can_be_split else None)


def _after_run(facts: ImportFacts) -> ImportStatus | None:
    starts = {ImportStatus.UPLOADED: ImportStatus.SPLITTING, ImportStatus.CHECKED: ImportStatus.RUNNING}
    return _after_start(facts, starts.get(facts.status))


def _after_start(facts: ImportFacts, status: ImportStatus | None) -> ImportStatus | None:
    if facts.follows:
        return None
    # A wish for the time when the file is there.
    return facts.status if facts.status is ImportStatus.AWAITING_UPLOAD else status


def _after_cancel(facts: ImportFacts) -> ImportStatus | None:
    is_cancelled = facts.status is ImportStatus.CANCELLED
    return ImportStatus.CANCELLED if facts.status in CANCELLABLE or is_cancelled else None


def _after_retry(facts: ImportFacts) -> ImportStatus | None:
    active = facts.phase.active_status
    if facts.status in (ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.CHECKED):
        return active if facts.is_incomplete else None
    if facts.status is ImportStatus.FAILED:
        return _after_failure(facts)
    stopped = facts.status is ImportStatus.BLOCKED or (facts.status is ImportStatus.CANCELLED and facts.is_uploaded)
    if not stopped:
        return None
    if facts.wanted is Wish.HOLD:
        return ImportStatus.UPLOADED
    return active if facts.is_split else ImportStatus.SPLITTING


def _after_failure(facts: ImportFacts) -> ImportStatus | None:
    if facts.failure_code == FileFailure.CASE_CLOSED:
        return ImportStatus.UPLOADED if facts.wanted is Wish.HOLD else ImportStatus.SPLITTING
    codes = {
        FileFailure.NOT_READ: ImportStatus.SPLITTING,
        FileFailure.NOT_COMPLETED: facts.phase.active_status,
        FileFailure.HELD_TOO_LONG: ImportStatus.UPLOADED,
        FileFailure.ROWS_PER_DAY: ImportStatus.SPLITTING,
    }
    return codes.get(FileFailure(facts.failure_code)) if facts.failure_code else None


_RULES: Mapping[ImportAction, Callable[[ImportFacts], ImportStatus | None]] = {
    ImportAction.OPTIONS: _after_options,
    ImportAction.CHECK: _after_check,
    ImportAction.RUN: _after_run,
    ImportAction.CANCEL: _after_cancel,
    ImportAction.RETRY: _after_retry,
}


_PHASES = {
    **dict.fromkeys((ImportStatus.CHECKING, ImportStatus.CHECKED), ImportPhase.CHECK),
    **dict.fromkeys((ImportStatus.RUNNING, ImportStatus.COMPLETED_WITH_REJECTIONS), ImportPhase.IMPORT),
}


def list_facts(status: ImportStatus) -> Iterator[ImportFacts]:
    """Yield all that can be true of an import with this status."""
    codes = (None, *FileFailure) if status is ImportStatus.FAILED else (None,)
    flags = (False, True)
    for wanted, uploaded, split, code, incomplete in product(Wish, flags, flags, codes, flags):
        # What is awaited is not there, and what is not there is not split.
        is_impossible = (split and not uploaded) or (uploaded and status is ImportStatus.AWAITING_UPLOAD)
        if not is_impossible and _PHASES.get(status, wanted.phase) is wanted.phase:
            yield ImportFacts(status, wanted, wanted.phase, uploaded, split, code, incomplete)


def build_table() -> list[str]:
    """Return the lines of the table of docs/api.md: the statuses that each request leads to, from each status."""
    lines = [_build_line(("status", *ImportAction)), _build_line(["---"] * (len(ImportAction) + 1))]
    for status in ImportStatus:
        results = ({find_next(action, each) for each in list_facts(status)} - {None} for action in ImportAction)
        lines.append(_build_line((f"`{status}`", *(_list_statuses(found) for found in results))))
    return lines


def _build_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _list_statuses(found: Iterable[ImportStatus | None]) -> str:
    return ", ".join(f"`{status}`" for status in ImportStatus if status in set(found)) or "–"
