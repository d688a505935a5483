"""The output of `serve`: failed invocations while it runs, unfinished imports at its end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from local.command.unfinished import Unfinished, list_unfinished
from local.stack import LocalStack

_POLL_SECONDS = 1.0
_MAX_LISTED = 10
_ADVICE = "The next `serve` or `import` goes on with them where they are; there is nothing to upload again."


def watch(stack: LocalStack) -> NoReturn:
    """Print every failed invocation until a signal arrives; raises LocalError when a part of the stack fails."""
    printed = 0
    while True:
        stack.wait_for_activity(_POLL_SECONDS)
        stack.event_sources.activity.check_alive()
        for failure in stack.failures(printed):
            printed += 1
            print(failure, file=sys.stderr)


def print_unfinished(database_url: str) -> None:
    """Print the imports that have not finished, if the database answers within 2 seconds; never raises."""
    # A failure of the database or of the terminal must not keep the caller from stopping the rest of the stack.
    with contextlib.suppress(Exception):
        if unfinished := list_unfinished(database_url, _MAX_LISTED):
            print(describe_unfinished(unfinished), file=sys.stderr)


def describe_unfinished(unfinished: Sequence[Unfinished]) -> str:
    """Return a message that lists the imports, of which there is at least one, and says when they go on."""
    total = unfinished[0].total
    message = "1 import has not finished:" if total == 1 else f"{total} imports have not finished:"
    lines = [message, *(f"  {each.id} ({each.status}, tenant {each.tenant_id})" for each in unfinished)]
    lines += [f"  and {total - len(unfinished)} more"] if total > len(unfinished) else []
    return "\n".join([*lines, _ADVICE])
