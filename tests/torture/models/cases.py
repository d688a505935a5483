"""What was answered of cases, and which acts in a case cannot have followed each other.

Nothing of the application is imported here. The ids of acts are in the order in which a case let their requests in and
was changed: each act is written under the lock on the case's row, shared or exclusive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# What a closed case allows: to end work, and to read.
OF_CLOSED = frozenset(
    {
        *("import.cancelled", "import.undo_cancelled", "tagging_job.cancelled"),
        *("production.cancel_requested", "production.retried", "export.requested", "export.cancelled"),
    }
)
# What removes something, which a case under a hold refuses.
REMOVALS = frozenset({"import.undo_requested", "volume.deletion_requested", "device.period_removed"})


class CaseState(NamedTuple):
    """A case at a version."""

    status: str
    is_held: bool
    has_purge: bool


@dataclass
class CaseCourse:
    """What was answered: the states of cases by id and version, how often each was changed how, and refused names."""

    states: dict[tuple[int, int], CaseState] = field(default_factory=dict)
    changes: Counter[tuple[int, str]] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


class RecordedAct(NamedTuple):
    """An act in a case; of the application, if it is not a user's."""

    action: str
    is_users: bool = True


def find_impossible(acts: Iterable[RecordedAct]) -> Iterator[str]:
    """Yield what a case must have refused, if its acts had this order."""
    state = CaseState("open", is_held=False, has_purge=False)
    for act in acts:
        if reason := _find_refusal(act, state):
            yield f"{act.action} {reason}"
        state = _follow(act.action, state)


def _find_refusal(act: RecordedAct, state: CaseState) -> str:
    """Return why the case refuses the act, empty if it does not."""
    is_closed, (_, is_held, has_purge) = state.status != "open", state
    wrong = {
        "case.closed": is_closed and "of a case that is closed",
        "case.reopened": (not is_closed and "of a case that is open")
        or (has_purge and "although its purge is requested"),
        "case.held": has_purge and "although its purge is requested",
        "case.lifted": not is_held and "without a hold",
        "case.purge_requested": (is_held and "under a hold") or (not is_closed and "of a case that is open"),
        "case.purge_withdrawn": not has_purge and "without a request",
        "case.purge_begun": (is_held and "under a hold") or (not has_purge and "without a request"),
    }
    if act.action in wrong:
        return wrong[act.action] or ""
    if not act.is_users or act.action == "case.created":
        return ""
    if is_closed and act.action not in OF_CLOSED:
        return f"in a case that is {state.status}"
    return "under a hold" if is_held and act.action in REMOVALS else ""


def _follow(action: str, state: CaseState) -> CaseState:
    changes: dict[str, CaseState] = {
        "case.closed": state._replace(status="closed"),
        "case.reopened": state._replace(status="open"),
        "case.held": state._replace(is_held=True),
        "case.lifted": state._replace(is_held=False),
        "case.purge_requested": state._replace(has_purge=True),
        "case.purge_withdrawn": state._replace(has_purge=False),
        "case.purge_begun": state._replace(status="purging"),
        "case.purged": state._replace(status="purged"),
    }
    return changes.get(action, state)
