"""Lists of the API, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from exhibit_ingest.client.api import Api

MOST_ITEMS = 500


def build_query(values: dict[str, Any]) -> str:
    """Return a query string with its `?`, without the values that are None; empty if none is left."""
    given = {name: _format(value) for name, value in values.items() if value is not None}
    return f"?{urlencode(given, doseq=True)}" if given else ""


def iterate(
    api: Api,
    path: str,
    limit: int | None = None,
    *,
    on_searched: Callable[[int], None] | None = None,
    **filters: Any,
) -> Iterator[dict[str, Any]]:
    """Yield the items of a list in its order, at most `limit`; each page is requested when it is needed.

    `on_searched` gets in how many documents the pages that ended early have searched together. Raises CommandError.
    """
    after, left, searched = None, limit, 0
    while left is None or left > 0:
        size = MOST_ITEMS if left is None else min(left, MOST_ITEMS)
        page = api.request("GET", path + build_query({**filters, "limit": size, "after": after}))
        yield from page["items"]
        if on_searched is not None and page.get("searched"):
            searched += page["searched"]
            on_searched(searched)
        after, left = page.get("next"), None if left is None else left - len(page["items"])
        if after is None:
            return


def _format(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
