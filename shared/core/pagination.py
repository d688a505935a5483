"""Pages of a list, and the opaque cursors that lead from one page to the next, and back.

Guaranteed: pages follow a unique key; reading to the end and back gives the same pages of what existed throughout.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from core.errors import InvalidInputError

T = TypeVar("T")
MAX_NUMBER = 2**63 - 1
Order = Literal["asc", "desc"]


class PageRequest(Protocol):
    """What a client sends to choose a page: at most one of the cursors, of the page after and of the page before."""

    @property
    def limit(self) -> int:
        """The maximum number of items."""
        ...

    @property
    def after(self) -> str | None:
        """The cursor `next` of the previous page."""
        ...

    @property
    def before(self) -> str | None:
        """The cursor `prev` of the following page."""
        ...

    @property
    def order(self) -> Order:
        """Whether the keys ascend or descend on a page."""
        ...


@dataclass(frozen=True)
class Window:
    """Where a page begins, and which way it is read.

    `start` is the key that it comes after, in the direction of reading, or None at the end of the list where reading
    begins. A page that is read backwards is the one before `start`; its rows come in reverse.
    """

    limit: int
    start: tuple[Any, ...] | None
    is_descending: bool
    is_backwards: bool

    @property
    def reads_down(self) -> bool:
        """Whether rows are read from high keys to low ones."""
        return self.is_descending != self.is_backwards


@dataclass(frozen=True)
class Page(Generic[T]):
    """The items of a page, and the cursors of the pages on both sides; None where there is none."""

    items: Sequence[T]
    next: str | None
    prev: str | None


def open_window(request: PageRequest, kinds: Sequence[type[int] | type[str]]) -> Window:
    """Return the window of a requested page; its key has values of these kinds.

    Raises InvalidInputError for a cursor that `encode_cursor` did not create from such values.
    """
    cursor = request.after if request.before is None else request.before
    start = None if cursor is None else decode_cursor(cursor, kinds)
    return Window(request.limit, start, request.order == "desc", request.before is not None)


def build_page(rows: Sequence[T], window: Window, cursor_of: Callable[[T], Sequence[int | str]]) -> Page[T]:
    """Return the page of up to `limit + 1` rows that were read as the window says, in the order of the list.

    The extra row shows that more follow. On the other side of a page that has a start are the rows that the client
    came from.
    """
    items, has_more = rows[: window.limit], len(rows) > window.limit
    if window.is_backwards:
        items = items[::-1]
    has_next, has_prev = (bool(items), has_more) if window.is_backwards else (has_more, window.start is not None)
    return Page(
        items,
        encode_cursor(*cursor_of(items[-1])) if items and has_next else None,
        encode_cursor(*cursor_of(items[0])) if items and has_prev else None,
    )


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
    return InvalidInputError(
        "after: unknown cursor; send the value of `next` from the previous page, or as `before` that of `prev`."
    )


def _is_of_kind(value: object, kind: type[int] | type[str]) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, int):
        return 0 <= value <= MAX_NUMBER
    return not any("\ud800" <= character <= "\udfff" for character in str(value))
