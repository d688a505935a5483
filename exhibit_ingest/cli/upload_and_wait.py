"""Upload a load file and wait for its import."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from core.imports.uploads import build_object_key, build_options_key
from exhibit_ingest.cli.import_status import ImportProgress
from exhibit_ingest.stack_parts import HasActivity, HasBucket, HasLogs
from local.errors import ImportRefusedError, ImportStalledError

_POLL_SECONDS = 0.1
_IDLE_CHECK_SECONDS = 1.0
STALLED_SECONDS = 30.0

OnState = Callable[[ImportProgress | None], None]


class RunningStack(HasActivity, HasLogs, Protocol):
    """The part of a stack that waiting for an import needs."""


def build_upload_key(tenant: str, case: str, file: Path) -> str:
    """Return a new key for a load file."""
    return build_object_key(tenant, case, str(uuid.uuid4()), file.name)


def upload_load_file(stack: HasBucket, file: Path, key: str, options: Mapping[str, Any]) -> None:
    """Upload a load file, after its options; raises OSError or a boto3 error."""
    if options:
        body = json.dumps(options).encode()
        stack.s3.put_object(Bucket=stack.bucket, Key=build_options_key(key), Body=body)
    stack.s3.upload_file(str(file), stack.bucket, key)


def wait_for_import(
    stack: RunningStack,
    read_state: Callable[[], ImportProgress | None],
    on_state: OnState,
    clock: Callable[[], float] = time.monotonic,
) -> ImportProgress:
    """Wait until an import is finished and return its last state; `on_state` is called with every state read.

    Raises ImportRefusedError when the stack is idle and has not registered the import: its message is consumed, so
    that nothing will. Raises ImportStalledError when the state has not changed and the stack has been idle for
    STALLED_SECONDS. A stack with messages that wait for a retry is not idle.
    """
    last: ImportProgress | None = None
    changed = checked = clock()
    idle = False
    while True:
        state = read_state()
        if state is None and idle:
            raise ImportRefusedError(f"the functions refused the upload; see the logs in {stack.log_directory}")
        if state != last:
            last, changed = state, clock()
        on_state(state)
        if state is not None and state.finished:
            return state
        if clock() - checked >= _IDLE_CHECK_SECONDS:
            checked = clock()
            idle = stack.is_idle()
            if not idle:
                changed = checked
        if clock() - changed >= STALLED_SECONDS:
            raise ImportStalledError(
                f"the import has stalled (status: {state.status if state else 'not started'});"
                f" see failures.log and the other logs in {stack.log_directory}"
            )
        stack.wait_for_activity(_POLL_SECONDS)
