"""Ids and keys of previews before an upload: an id says what is previewed, so that nothing has to be stored.

Guaranteed: an id cannot be guessed; its object lies under the tenant's own prefix, outside of the prefix of imports.
Both contain a hash of the case's name instead of the name: by it, a caller who is limited to other cases is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

PREVIEW_PREFIX = "previews"
PATTERN = r"^[A-Za-z0-9_-]{32}\.[1-9][0-9]{0,11}\.[0-9a-f]{32}$"
PREVIEW_ID = re.compile(PATTERN)


class PreviewId(NamedTuple):
    """A preview of a file of `size` bytes, for the case with this hash; `token` is random."""

    token: str
    size: int
    case_hash: str

    def __str__(self) -> str:
        return f"{self.token}.{self.size}.{self.case_hash}"

    def build_key(self, tenant_id: str) -> str:
        """Return the key of the object, under the prefix of the tenant."""
        return f"{PREVIEW_PREFIX}/{tenant_id}/{self}"

    def is_of(self, cases: Iterable[str]) -> bool:
        """Return whether it is for one of these cases."""
        return self.case_hash in map(hash_case, cases)


def parse_preview_id(text: str) -> PreviewId | None:
    """Return the id that a text is, or None if it is not one."""
    if not PREVIEW_ID.fullmatch(text):
        return None
    token, size, case_hash = text.split(".")
    return PreviewId(token, int(size), case_hash)


def hash_case(name: str) -> str:
    """Return the hash of a case's name, compared byte for byte as names of cases are."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
