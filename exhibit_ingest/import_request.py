"""What a user requests of `import` or `check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ImportRequest:
    """The arguments of `import`, or of `check`; `workers` is None where the number was not given.

    With `create_case`, a case that does not exist is created although the tenant has cases with similar names.
    `profile` is the mapping profile to use, `save_profile` the one to save; `options` override the former.
    """

    files: Sequence[Path]
    tenant: str
    case: str
    options: dict[str, Any]
    workers: int | None
    json: bool
    is_check: bool = False
    create_case: bool = False
    profile: str | None = None
    save_profile: str | None = None
