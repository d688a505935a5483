"""Pages of a list, and cursors: where a page ended, as a text that means nothing to whoever sends it back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.errors import InvalidInputError

T = TypeVar("T")
MAX_NUMBER = 2**63 - 1


def page_of(
    rows: Sequence[T], limit: int, cursor_of: Callable[[T], Sequence[int | str]]
) -> tuple[Sequence[T], str | None]:
    """The page's rows, and the cursor behind its last one; None where the list ends with them.

    `rows` are those from the page's start on, `limit + 1` of them at most: the one too many tells that more follow.
    `cursor_of` gives the values that the list is ordered by.
    """
    page = rows[:limit]
    return page, encode_cursor(*cursor_of(page[-1])) if len(rows) > limit else None


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
        raise not_ours() from exc
    known = isinstance(values, list) and len(values) == len(kinds) and all(map(_is_of_kind, values, kinds))
    if not known or encode_cursor(*values) != text:
        raise not_ours()
    return tuple(values)


def not_ours() -> InvalidInputError:
    """The error for a cursor that no page of the list has given."""
    return InvalidInputError("after: take it from `next` of the previous page")


def _is_of_kind(value: object, kind: type[int] | type[str]) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, int):
        return 0 <= value <= MAX_NUMBER
    return not any("\ud800" <= character <= "\udfff" for character in str(value))
