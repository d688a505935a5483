"""The capacity of the columns that load files fill, in a new database; a test compares it with one."""

from __future__ import annotations

from core.exhibit_fields import KEYS, MAX_TEXT, TEXTS
from shell.db.column_limits import ColumnLimit, Limits

_CHARSET = "utf8mb3"
_KEY = ColumnLimit(255, None, _CHARSET, f"{_CHARSET}_bin")
_NAME = ColumnLimit(255, None, _CHARSET, f"{_CHARSET}_unicode_520_ci")
_TAG = _NAME._replace(characters=500)
_TEXT = _NAME._replace(characters=MAX_TEXT)
_PROPERTIES = _NAME._replace(characters=None, bytes=65_535)
_TABLES: dict[str, Limits] = {
    "exhibits": {
        **dict.fromkeys(KEYS, _KEY),
        **dict.fromkeys(TEXTS, _TEXT),
        "document_properties": _PROPERTIES,
        "document_date_source": _NAME._replace(characters=13),
        "date_precision": _NAME._replace(characters=5),
    },
    "custodians": {"name": _NAME},
    "tags": {"name": _TAG},
}


def declared_limits(table: str) -> Limits:
    """Return the limits of a table's text columns, as `shell.db.column_limits` reads them from a new database."""
    return _TABLES[table]
