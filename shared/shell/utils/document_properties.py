"""The columns of a load file that have no home of their own, as one TEXT value of an exhibit.

The stored form is a YAML scalar that holds a JSON object, as in the pattern that this application continues. Bytes are
counted on that form; what does not fit is dropped whole, largest entry first, and every change is accounted for.
`<nil>` becomes null, which no blank cell does: blank cells have no entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple, cast

import yaml

from core.reasons import WarningCode
from shell.observability import logger
from shell.utils.column_limits import ColumnLimit
from shell.utils.data_sanitizer import remove_four_byte_characters, utf8_length

TEXT_COLUMN_BYTES = 65_535
NIL = "<nil>"
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SINGLE_QUOTED = re.compile(r"\{[ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")

Properties = Mapping[str, str | None]


class PropertyLoss(NamedTuple):
    """What was taken from which entry, and how many bytes of UTF-8 are left of it."""

    code: WarningCode
    name: str
    message: str
    stored_bytes: int


def store(properties: Properties) -> str:
    """The stored form."""
    return as_scalar(json.dumps(properties, ensure_ascii=False))


def as_scalar(document: str) -> str:
    """A JSON object as the YAML scalar that the dumper makes of it, which is nearly always a single-quoted one.

    What begins with a brace cannot stand without quotes; what cannot be printed, or ends a line, needs double ones.
    """
    if (document.isascii() and document.isprintable()) or _SINGLE_QUOTED.fullmatch(document):
        return "'" + document.replace("'", "''") + "'\n"
    return dumped_scalar(document)


def dumped_scalar(document: str) -> str:
    """The same by the dumper itself, at some twenty times the cost."""
    # A scalar is a document that YAML ends with a line of dots; it reads the same without them.
    dumped: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, width=2**31 - 1)
    return dumped.removesuffix("...\n")


def load(stored: str) -> dict[str, str | None]:
    """The properties of a stored form."""
    return cast("dict[str, str | None]", json.loads(yaml.load(stored, Loader=_Loader)))  # noqa: S506 - safe loaders


def remove_emojis(text: str) -> str:
    """The text without the characters that utf8mb3 cannot hold."""
    return remove_four_byte_characters(text)[0]


def fit_properties(properties: Properties, limit: ColumnLimit) -> tuple[str | None, list[PropertyLoss]]:
    """The stored form that the column can hold (None if there are no properties), and what that cost."""
    if not properties:
        return None, []
    losses: list[PropertyLoss] = []
    kept = {name: _sanitize_value(_normalize_encoding(value)) for name, value in properties.items()}
    if not limit.takes_four_bytes:
        kept = _without_four_bytes(kept, losses)
    stored = _fitting(kept, limit.bytes or TEXT_COLUMN_BYTES, losses)
    return stored, losses


def _normalize_encoding(value: str | None) -> str | None:
    """The value without lone surrogates, which no encoding has and which the driver would refuse."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "ignore").decode("utf-8")


def _sanitize_value(value: str | None) -> str | None:
    """None for the way some exporters write it."""
    return None if value == NIL else value


def _truncate_to_text_column(properties: Properties) -> dict[str, str | None]:
    """The properties that fit a TEXT column of 65,535 bytes, largest entries dropped first; logs names' count only."""
    losses: list[PropertyLoss] = []
    kept = dict(properties)
    _fitting(kept, TEXT_COLUMN_BYTES, losses)
    if losses:
        logger.warning("properties dropped", extra={"code": WarningCode.PROPERTY_DROPPED.value, "count": len(losses)})
    return kept


def _without_four_bytes(properties: Properties, losses: list[PropertyLoss]) -> dict[str, str | None]:
    kept: dict[str, str | None] = {}
    for name, value in properties.items():
        clean, removed = remove_four_byte_characters(value or "")
        if removed:
            message = f"{removed} character(s) that the column's character set cannot hold were removed"
            losses.append(PropertyLoss(WarningCode.CHARACTERS_REMOVED, name, message, utf8_length(clean)))
        kept[_free_name(remove_emojis(name), name, properties, kept)] = clean if removed else value
    return kept


def _free_name(clean: str, name: str, properties: Properties, kept: Properties) -> str:
    """A column's name without four-byte characters must not hide another column."""
    while clean in kept or (clean != name and clean in properties):
        clean += "_"
    return clean


def _fitting(kept: dict[str, str | None], room: int, losses: list[PropertyLoss]) -> str:
    """Drop entries from `kept`, largest first and ties by name, until the stored form fits."""
    stored = store(kept)
    excess = utf8_length(stored) - room
    if excess <= 0:
        return stored
    # Sizes are added up in the style that the stored form has; it is written again once, not for every entry.
    style = '"' if stored.startswith('"') else "'"
    for name in sorted(kept, key=lambda entry: (utf8_length(kept[entry] or ""), entry), reverse=True):
        if excess <= 0:
            break
        excess -= _share(name, kept[name], style)
        size = utf8_length(kept.pop(name) or "")
        message = f"the value of {size} bytes was dropped; all properties together may take {room} bytes"
        losses.append(PropertyLoss(WarningCode.PROPERTY_DROPPED, name, message, 0))
    return _fitting(kept, room, losses)


def _share(name: str, value: str | None, style: str) -> int:
    """Bytes that an entry takes in the stored form, with the comma and space behind it."""
    entry = json.dumps({name: value}, ensure_ascii=False)[1:-1] + ", "
    dumped: str = yaml.dump(entry, Dumper=_Dumper, allow_unicode=True, width=2**31 - 1, default_style=style)
    return utf8_length(dumped) - len('""\n')
