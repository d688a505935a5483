"""What a user requests of `import` or `check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Expected(NamedTuple):
    """What the sender's letter says of a production; None for what it does not say."""

    documents: int | None = None
    pages: int | None = None
    natives: int | None = None
    texts: int | None = None
    bates: tuple[str, str] | None = None


@dataclass(frozen=True)
class ImportRequest:
    """The arguments of `import`, or of `check`; `workers` is None where the number was not given.

    `options` say how files are read, with the names of an options document. With `create_case`, a case that does not
    exist is created although there are cases with similar names. `profile` is the mapping profile to use, which
    `options` override; `save_profile` the one to save. `corrects` is the import whose rejected rows the file has.
    `limit_rate` is in bytes a second. `expected` is what the sender's letter says.
    """

    files: Sequence[Path]
    case: str
    options: dict[str, Any]
    workers: int | None = None
    json: bool = False
    is_check: bool = False
    create_case: bool = False
    profile: str | None = None
    save_profile: str | None = None
    corrects: int | None = None
    limit_rate: int | None = None
    expected: Expected | None = None
