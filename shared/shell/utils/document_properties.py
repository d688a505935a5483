"""Store the load file columns that have no table column of their own as one TEXT value of an exhibit.

The stored form is a JSON object, so that MySQL's JSON_EXTRACT can read it. With PROPERTIES_FORMAT=yaml it is the
published pattern's form, a YAML scalar that contains that object. Both forms are read, whichever is written.

Guaranteed: the stored form fits the column, measured in bytes; entries that do not fit are dropped whole, largest
first, and every change is reported. `<nil>` becomes null; a blank cell has no entry. Entries are in the order of
`order_properties`, which depends on nothing but their names and the import that created the exhibit.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

from core.codes import WarningCode
from shell.db.column_limits import ColumnLimit
from shell.observability import logger
from shell.settings import properties_format
from shell.utils.data_sanitizer import describe_removed, remove_four_byte_characters, utf8_length

TEXT_COLUMN_BYTES = 65_535
NIL = "<nil>"
_ENCODER = json.JSONEncoder(ensure_ascii=False)

Properties = Mapping[str, str | None]


class PropertyChange(NamedTuple):
    """A change to an entry: its code, the entry's name, a message, and the UTF-8 bytes and text that are stored."""

    code: WarningCode
    name: str
    message: str
    stored_bytes: int
    stored: str = ""


def serialize_properties(properties: Properties) -> str:
    """Return the stored form of the properties."""
    return format_document(_ENCODER.encode(properties))


def format_document(document: str) -> str:
    """Return a JSON object in the form that PROPERTIES_FORMAT names."""
    return document if properties_format() == "json" else _yaml_scalar(document)


def parse_properties(stored: str) -> dict[str, str | None]:
    """Return the properties of a stored form: JSON if it starts with a brace, otherwise a YAML scalar."""
    document = stored if stored.startswith("{") else _from_yaml(stored)
    return cast("dict[str, str | None]", json.loads(document))


def _yaml_scalar(document: str, style: str | None = None) -> str:
    # Imported only where needed: the import takes a tenth of a cold start.
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumped: str = yaml.dump(document, Dumper=dumper, allow_unicode=True, width=2**31 - 1, default_style=style)
    # A document of one scalar ends with a line of dots, which is optional.
    return dumped.removesuffix("...\n")


def _from_yaml(stored: str) -> str:
    import yaml

    return str(yaml.load(stored, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506 - safe loaders


def remove_emojis(text: str) -> str:
    """Return the text without the characters that utf8mb3 cannot store."""
    return remove_four_byte_characters(text)[0]


def order_properties(properties: Properties, columns: Sequence[str]) -> dict[str, str | None]:
    """Return the properties in the order of these columns, those of the creating import, and the others by name.

    Every writer stores this order, so that what one adds and another takes back leaves the same bytes.
    """
    positions = {name: position for position, name in enumerate(columns)}
    return {
        name: properties[name]
        for name in sorted(properties, key=lambda each: (positions.get(each, len(positions)), each))
    }


def coerce_properties(
    properties: Properties, limit: ColumnLimit, columns: Sequence[str] = ()
) -> tuple[str | None, list[PropertyChange]]:
    """Return the stored form that fits the column (None if there are no properties), and the changes.

    `columns` are those of the file, whose order is that of the entries.
    """
    if not properties:
        return None, []
    changes: list[PropertyChange] = []
    kept = {name: _sanitize_value(_normalize_encoding(value)) for name, value in properties.items()}
    if not limit.takes_four_bytes:
        kept = _without_four_bytes(kept, changes)
    kept = order_properties(kept, columns)
    stored = _drop_until_fits(kept, limit.bytes or TEXT_COLUMN_BYTES, changes)
    return stored, changes


def merge_properties(
    stored: Properties,
    given: Properties,
    removed: Collection[str],
    limit: ColumnLimit,
    texts: Collection[str] = (),
) -> tuple[dict[str, str | None], list[PropertyChange]]:
    """Return the stored properties with the given ones, which were coerced, and without the removed ones.

    If they do not fit the column together, given ones are left out, largest first, and each is a change; a stored
    entry of that name stays as it is. Those named by `texts` are stored elsewhere as a whole: such an entry is removed,
    and is no change.
    """
    merged = {name: value for name, value in stored.items() if name not in removed} | dict(given)
    changes: list[PropertyChange] = []
    room = limit.bytes or TEXT_COLUMN_BYTES
    if utf8_length(serialize_properties(merged)) <= room:
        return merged, changes
    by_size = sorted(given, key=lambda name: (utf8_length(given[name] or ""), name), reverse=True)
    while by_size and utf8_length(serialize_properties(merged)) > room:
        name = by_size.pop(0)
        if name in texts:
            del merged[name]
            continue
        if name in stored:
            merged[name] = stored[name]
        else:
            del merged[name]
        message = f"The value was left out; all properties of the document together may take {room} bytes."
        changes.append(PropertyChange(WarningCode.PROPERTY_DROPPED, name, message, 0))
    return merged, changes


def _normalize_encoding(value: str | None) -> str | None:
    """Return the value without lone surrogates, which cannot be encoded and which the driver rejects."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "ignore").decode("utf-8")


def _sanitize_value(value: str | None) -> str | None:
    """Return None for `<nil>`, which some exporters write for a null."""
    return None if value == NIL else value


def _truncate_to_text_column(properties: Properties) -> dict[str, str | None]:
    """Return the properties that fit a TEXT column of 65,535 bytes, largest entries dropped first; log their count."""
    changes: list[PropertyChange] = []
    kept = dict(properties)
    _drop_until_fits(kept, TEXT_COLUMN_BYTES, changes)
    if changes:
        logger.warning("properties dropped", extra={"code": WarningCode.PROPERTY_DROPPED.value, "count": len(changes)})
    return kept


def _without_four_bytes(properties: Properties, changes: list[PropertyChange]) -> dict[str, str | None]:
    kept: dict[str, str | None] = {}
    for name, value in properties.items():
        clean, removed = remove_four_byte_characters(value or "")
        if removed:
            message = describe_removed(removed)
            changes.append(PropertyChange(WarningCode.CHARACTERS_REMOVED, name, message, utf8_length(clean), clean))
        kept[_make_unique(remove_emojis(name), name, properties, kept)] = clean if removed else value
    return kept


def _make_unique(clean: str, name: str, properties: Properties, kept: Properties) -> str:
    """Append underscores to a name without its four-byte characters until it hides no other column."""
    while clean in kept or (clean != name and clean in properties):
        clean += "_"
    return clean


def _drop_until_fits(kept: dict[str, str | None], room: int, changes: list[PropertyChange]) -> str:
    """Drop entries from `kept`, largest first and ties by name, until the stored form fits."""
    stored = serialize_properties(kept)
    excess = utf8_length(stored) - room
    if excess <= 0:
        return stored
    # Entry sizes are summed in the stored form; the whole is serialized again once, not for every entry.
    style = None if stored.startswith("{") else stored[0]
    for name in sorted(kept, key=lambda entry: (utf8_length(kept[entry] or ""), entry), reverse=True):
        if excess <= 0:
            break
        excess -= _count_entry_bytes(name, kept[name], style)
        size = utf8_length(kept.pop(name) or "")
        message = f"The value of {size} bytes was dropped; all properties together may take {room} bytes."
        changes.append(PropertyChange(WarningCode.PROPERTY_DROPPED, name, message, 0))
    return _drop_until_fits(kept, room, changes)


def _count_entry_bytes(name: str, value: str | None, yaml_style: str | None) -> int:
    """Return the bytes of an entry in the stored form, including the comma and space after it."""
    entry = json.dumps({name: value}, ensure_ascii=False)[1:-1] + ", "
    return utf8_length(entry if yaml_style is None else _yaml_scalar(entry, yaml_style)[1:-2])
