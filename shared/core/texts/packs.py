"""Packs: the texts of the rows of one chunk, one after the other, as they are stored in one object.

Guaranteed: equal rows make equal bytes and the same key, so that two workers at one chunk write one object. A text is
its bytes in UTF-8, its hash is the SHA-256 of these, and no text of another row is in its range.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

TEXT_PREFIX = "texts"


class TextPlace(NamedTuple):
    """The bytes of a text within its pack, and their SHA-256."""

    offset: int
    length: int
    sha256: bytes


@dataclass
class TextPack:
    """The texts of a chunk: their hashes by line, and of those that are in the pack the places; `data` is the pack."""

    hashes: dict[int, bytes] = field(default_factory=dict)
    places: dict[int, TextPlace] = field(default_factory=dict)
    data: bytes = b""

    @property
    def sha256(self) -> bytes:
        """The hash of the pack."""
        return hashlib.sha256(self.data).digest()


def build_pack(texts: Iterable[tuple[int, str]], stored: Container[tuple[int, bytes]] = ()) -> TextPack:
    """Return the pack of the texts, which come with their lines, without those whose line and hash are `stored`."""
    pack, parts, offset = TextPack(), list[bytes](), 0
    for line_no, text in texts:
        data = text.encode()
        pack.hashes[line_no] = digest = hashlib.sha256(data).digest()
        if (line_no, digest) not in stored:
            pack.places[line_no] = TextPlace(offset, len(data), digest)
            parts.append(data)
            offset += len(data)
    pack.data = b"".join(parts)
    return pack


def build_pack_key(tenant_id: str, case_id: int, import_id: int, chunk_no: int, sha256: bytes) -> str:
    """Return the key of a pack: no other case, import or chunk has it, nor other bytes of this one."""
    return f"{TEXT_PREFIX}/{tenant_id}/{case_id}/{import_id}/{chunk_no}-{sha256.hex()}"
