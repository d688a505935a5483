"""Digests of what a purge destroys: a chain that grows item by item, so that no list has to be kept.

Guaranteed: the digest of items is the same however they are divided into batches, and another one if an item is
missing, added, changed or elsewhere in the order. It tells neither items nor names to those who do not have them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

EMPTY = bytes(32)


class Tally(NamedTuple):
    """How many items were destroyed, their bytes, and the digest of all of them in their order."""

    total: int = 0
    size: int = 0
    digest: bytes = EMPTY

    def add(self, items: Iterable[Sequence[object]], size: int = 0) -> Tally:
        """Return the tally with more items; each is what names a row or an object, `size` the bytes of all of them."""
        total, digest = self.total, self.digest
        for item in items:
            total, digest = total + 1, hashlib.sha256(digest + format_item(item)).digest()
        return Tally(total, self.size + size, digest)


def format_item(item: Sequence[object]) -> bytes:
    """Return the bytes of an item in the chain: a JSON array in UTF-8, with bytes as their hexadecimal digits."""
    return json.dumps([each.hex() if isinstance(each, bytes) else each for each in item], ensure_ascii=False).encode()


def combine(tallies: Iterable[tuple[str, str, Tally]]) -> bytes:
    """Return one digest of all tallies, which are (kind, name, tally), in the order of kinds and names."""
    return Tally().add((kind, name, *tally) for kind, name, tally in sorted(tallies)).digest
