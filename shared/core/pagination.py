"""Pages of a list, and the opaque cursors that lead from one page to the next."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.errors import InvalidInputError

T = TypeVar("T")
MAX_NUMBER = 2**63 - 1


def paginate(
    rows: Sequence[T], limit: int, cursor_of: Callable[[T], Sequence[int | str]]
) -> tuple[Sequence[T], str | None]:
    """Return the rows of a page and the cursor of the next page, which is None on the last page.

    `rows` are at most `limit + 1` rows from the start of the page; the extra row shows that more follow. `cursor_of`
    returns the values by which the list is ordered.
    """
    page = rows[:limit]
    return page, encode_cursor(*cursor_of(page[-1])) if len(rows) > limit else None


def encode_cursor(*values: int | str) -> str:
    """Return the values as a string of letters, digits, `-` and `_`."""
    document = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(document).rstrip(b"=").decode()


def decode_cursor(text: str, kinds: Sequence[type[int] | type[str]]) -> tuple[Any, ...]:
    """Return the values of a cursor, one of each kind: numbers from 0 to 2**63 - 1, and strings that UTF-8 can encode.

    Raises InvalidInputError if `encode_cursor` did not create the text from such values.
    """
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        values = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError) as exc:
        raise build_cursor_error() from exc
    is_expected = isinstance(values, list) and len(values) == len(kinds) and all(map(_is_of_kind, values, kinds))
    if not is_expected or encode_cursor(*values) != text:
        raise build_cursor_error()
    return tuple(values)


def build_cursor_error() -> InvalidInputError:
    """Return the error for a cursor that the list did not return."""
    return InvalidInputError("after: unknown cursor; send the value of `next` from the previous page.")


def _is_of_kind(value: object, kind: type[int] | type[str]) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, int):
        return 0 <= value <= MAX_NUMBER
    return not any("\ud800" <= character <= "\udfff" for character in str(value))
