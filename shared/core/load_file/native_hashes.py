"""Find the columns that hold hashes of the native, and read their cells.

They feed no field of an exhibit. A hash of a family, a parent or an e-mail is not that of the native.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.header_names import normalise_name

_OWNER = r"(?:native|original|orig|file|doc|document|item|source)*"
# In order of preference.
_NAMES = tuple(
    re.compile(form)
    for form in (
        *(rf"{_OWNER}{name}(?:hash|digest|checksum)?(?:value)?" for name in ("sha256", "sha1", "md5")),
        rf"{_OWNER}(?:hash|digest|checksum)(?:value|code|md5|sha1|sha256)?",
    )
)
# MD5, SHA-1, SHA-256.
_HASH = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")


def find_hash_columns(names: Sequence[str], fields: Sequence[str | None]) -> tuple[int, ...]:
    """Return the columns of hashes, in order of preference; `fields` are those that the columns feed."""
    spelled = {index: normalise_name(names[index]) for index, field in enumerate(fields) if field is None}
    ranked = (
        (rank, index) for index, name in spelled.items() for rank, form in enumerate(_NAMES) if form.fullmatch(name)
    )
    return tuple(dict.fromkeys(index for _, index in sorted(ranked)))


def read_hash(cell: str) -> str:
    """Return the hash in a cell, in small letters; blank if the cell is not one."""
    text = cell.strip(ASCII_WHITESPACE).lower()
    return text if _HASH.fullmatch(text) else ""
