"""Change properties of an exhibit, each as it is sent, or refuse the request.

Guaranteed: the stored form is that of an import, in the order of the file's columns; properties that are not named stay
as they are; nothing is dropped or cut to make the others fit.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from core.exhibit_history import ABSENT, Change, Changes, Key, Kind
from shell.db.column_limits import column_limits
from shell.exhibits.updates import FileColumns
from shell.tables.exhibits import Exhibits
from shell.utils.data_sanitizer import remove_four_byte_characters, utf8_length
from shell.utils.document_properties import (
    TEXT_COLUMN_BYTES,
    Properties,
    order_properties,
    parse_properties,
    serialize_properties,
)


def change_properties(transaction: Session, exhibit: Exhibits, patch: Properties) -> Changes:
    """Set the properties of the patch, and remove those for which it has None; return the changes of all of them.

    Raises InvalidInputError if the column cannot store a text unchanged, or all properties together.
    """
    stored = parse_properties(exhibit.document_properties) if exhibit.document_properties else {}
    given = {name: value for name, value in patch.items() if value is not None}
    merged = {**{name: value for name, value in stored.items() if name not in patch}, **given}
    exhibit.document_properties = _serialize(transaction, exhibit.import_id, merged, given)
    return {
        Key(Kind.PROPERTY, name): Change(stored.get(name, ABSENT), given.get(name, ABSENT)) for name in sorted(patch)
    }


def _serialize(transaction: Session, import_id: int, merged: Properties, given: Mapping[str, str]) -> str | None:
    limit = column_limits("exhibits")["document_properties"]
    if not limit.takes_four_bytes:
        for name, value in given.items():
            if remove_four_byte_characters(name + value)[1]:
                raise InvalidInputError(
                    f"properties.{name}: the text has characters that the database's character set {limit.charset} "
                    "cannot store. Remove them."
                )
    if not merged:
        return None
    columns = FileColumns(transaction, {import_id}).get(import_id)
    document, room = serialize_properties(order_properties(merged, columns)), limit.bytes or TEXT_COLUMN_BYTES
    if utf8_length(document) > room:
        raise InvalidInputError(
            f"properties: all properties of the exhibit together would take {utf8_length(document)} bytes, and may "
            f"take {room}. Shorten or remove some."
        )
    return document
