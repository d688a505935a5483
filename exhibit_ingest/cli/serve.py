"""The output of `serve`: failed invocations while it runs, unfinished imports at its end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from exhibit_ingest.cli.import_status import Unfinished, list_unfinished
from local.stack import LocalStack

_POLL_SECONDS = 1.0
_MAX_LISTED = 10
_ADVICE = """\
Run `serve` again, cancel each import (POST /imports/ID/cancel), then create a new import and upload the file again.
Rows that are already imported are not imported twice."""


def watch(stack: LocalStack) -> NoReturn:
    """Print every failed invocation until a signal arrives; raises LocalError when a part of the stack fails."""
    printed = 0
    while True:
        stack.wait_for_activity(_POLL_SECONDS)
        stack.event_sources.activity.raise_fatal_error()
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
    """Return a message that lists the imports, of which there is at least one, and says what to do."""
    total = unfinished[0].total
    message = "1 import has not finished, and its upload is lost now:"
    if total > 1:
        message = f"{total} imports have not finished, and their uploads are lost now:"
    lines = [message, *(f"  {each.id} ({each.status}, tenant {each.tenant_id})" for each in unfinished)]
    lines += [f"  and {total - len(unfinished)} more"] if total > len(unfinished) else []
    return "\n".join([*lines, _ADVICE])
