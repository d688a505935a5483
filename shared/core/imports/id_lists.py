"""Lists of ids as they are stored: a few bytes for each, because ids of one file follow each other."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

_LEVEL = 1


def encode_ids(ids: Iterable[int]) -> bytes:
    """Return distinct ids as compressed JSON: the lowest one, then the distance of each from the one before it."""
    ordered = sorted(set(ids))
    distances = [*ordered[:1], *(after - before for before, after in pairwise(ordered))]
    return zlib.compress(json.dumps(distances, separators=(",", ":")).encode(), _LEVEL)


def decode_ids(stored: bytes) -> Iterator[int]:
    """Yield the ids that `encode_ids` encoded, in ascending order."""
    distances: list[int] = json.loads(zlib.decompress(stored))
    return accumulate(distances)
