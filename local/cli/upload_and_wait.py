"""One load file -> one upload, and the wait for what becomes of it."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from local.errors import ImportStalledError
from local.import_states import ImportState, ImportStates
from local.stack import LocalStack

_LOOK_SECONDS = 0.1
_LOOK_IDLE_SECONDS = 1.0
STALLED_SECONDS = 30.0

OnState = Callable[[ImportState | None], None]


@dataclass(frozen=True)
class Upload:
    """A file in the bucket, as yet without an import."""

    bucket: str
    key: str


class Workplace(Protocol):
    """What waiting needs of a stack."""

    @property
    def log_directory(self) -> Path:
        """Where the functions' logs are."""

    def is_idle(self) -> bool:
        """Whether no message waits and nothing is under way."""

    def pause(self, seconds: float) -> None:
        """Sleep until something is done or the time is over."""


def put(stack: LocalStack, file: Path, tenant: str, case: str, options: Mapping[str, Any]) -> Upload:
    """Upload a file, its options first."""
    upload_id = str(uuid.uuid4())
    if options:
        body = json.dumps(options).encode()
        stack.s3.put_object(Bucket=stack.bucket, Key=f"options/{tenant}/{case}/{upload_id}.json", Body=body)
    key = f"imports/{tenant}/{case}/{upload_id}/{file.name}"
    stack.s3.upload_file(str(file), stack.bucket, key)
    return Upload(stack.bucket, key)


def wait(
    place: Workplace,
    look: Callable[[], ImportState | None],
    on_state: OnState,
    clock: Callable[[], float] = time.monotonic,
) -> ImportState:
    """Wait until an import is finished; raises ImportStalledError when nothing happens any more that could finish it.

    Messages that wait for another attempt are something that happens.
    """
    last: ImportState | None = None
    changed = looked = clock()
    while True:
        state = look()
        if state != last:
            last, changed = state, clock()
        on_state(state)
        if state is not None and state.finished:
            return state
        if clock() - looked >= _LOOK_IDLE_SECONDS:
            looked = clock()
            if not place.is_idle():
                changed = looked
        if clock() - changed >= STALLED_SECONDS:
            raise ImportStalledError(
                f"the import does not go on (status: {state.status if state else 'not begun'});"
                f" see the logs in {place.log_directory}, failures.log first"
            )
        place.pause(_LOOK_SECONDS)


def finder(states: ImportStates, upload: Upload) -> Callable[[], ImportState | None]:
    """A look at the import of an upload."""
    return lambda: states.find(upload.bucket, upload.key)
