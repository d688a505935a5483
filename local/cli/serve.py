"""What `serve` does while it runs, and says when it ends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from local.import_states import Unfinished, unfinished
from local.stack import LocalStack

_LOOK_SECONDS = 1.0
_MOST_NAMED = 10
_ADVICE = """\
Serve again, cancel it (POST /imports/ID/cancel), then announce and upload its file again: no row is imported twice."""


def watch(stack: LocalStack) -> NoReturn:
    """Tell every invocation that failed, until a signal or a failure of the stack ends it."""
    told = 0
    while True:
        stack.pause(_LOOK_SECONDS)
        stack.pump.activity.check()
        for failure in stack.failures(told):
            told += 1
            print(failure, file=sys.stderr)


def tell_unfinished(database_url: str) -> None:
    """Say which imports have not ended, if that can be found out at once; never fails."""
    # Whatever is wrong with the database or the terminal by now, the rest has still to be taken down.
    with contextlib.suppress(Exception):
        if left := unfinished(database_url, _MOST_NAMED):
            print(said_of(left), file=sys.stderr)


def said_of(left: Sequence[Unfinished]) -> str:
    """What is told of at least one import that has not ended, and what to do about it."""
    total = left[0].total
    told = "1 import has not finished, and its upload ends"
    if total > 1:
        told = f"{total} imports have not finished, and their uploads end"
    lines = [f"{told} with this:"]
    lines += [f"  {each.id} ({each.status}, tenant {each.tenant_id})" for each in left]
    lines += [f"  and {total - len(left)} more"] if total > len(left) else []
    return "\n".join([*lines, _ADVICE])
