"""Cursors: where a page of a list ended, as a text that means nothing to whoever sends it back."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from core.errors import InvalidInputError

MAX_NUMBER = 2**63 - 1
_NOT_OURS = "after: take it from `next` of the previous page"


def encode_cursor(*values: int | str) -> str:
    """The values as a text of letters, digits, `-` and `_`."""
    document = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(document).rstrip(b"=").decode()


def decode_cursor(text: str, kinds: Sequence[type[int] | type[str]]) -> tuple[Any, ...]:
    """The values of a cursor, one of each kind; numbers are from 0 to 2**63 - 1, texts can be encoded as UTF-8.

    Raises InvalidInputError for whatever `encode_cursor` does not make of such values.
    """
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        values = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(_NOT_OURS) from exc
    known = isinstance(values, list) and len(values) == len(kinds) and all(map(_is_of_kind, values, kinds))
    if not known or encode_cursor(*values) != text:
        raise InvalidInputError(_NOT_OURS)
    return tuple(values)


def _is_of_kind(value: object, kind: type[int] | type[str]) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, int):
        return 0 <= value <= MAX_NUMBER
    return not any("\ud800" <= character <= "\udfff" for character in str(value))
