"""The filters of exhibits as they are stored for what a worker does later: a production, an export, a tagging job.

Guaranteed: a worker of the previous release, beside this one or after a rollback, fails on filters that it does not
know. It leaves out what it does not know: "all but these two" would be the whole case to it. So they are stored as a
list, which it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By their names in the API. Once no release without them is left, plain filters can be stored with them.
_NEW = frozenset({"ids", "exceptIds"})


def pack_filters(filters: Mapping[str, Any]) -> Any:
    """Return filters, by their names in the API, as the JSON value that is stored."""
    return [dict(filters)] if _NEW & filters.keys() else dict(filters)


def unpack_filters(stored: Any) -> dict[str, Any]:
    """Return the filters of what `pack_filters` returned."""
    filters: dict[str, Any] = stored[0] if isinstance(stored, list) else stored
    return filters
