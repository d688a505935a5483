"""What `rejections` did: for programs, for people, and as an exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import DONE, REJECTED


@dataclass(frozen=True)
class Outcome:
    """The object that --json prints, what prints the same for people, and the exit code."""

    document: Mapping[str, Any]
    print: Callable[[], None]
    code: int = DONE


class RowsRefusedError(CommandError):
    """Rows are corrected or discarded already, by another user, or cannot be."""

    exit_code = REJECTED
