"""The decisions made once for a whole file, so that all of its chunks are read in the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from core.load_file.given_columns import compute_header_fingerprint
from core.load_file.grammar import Grammar


@dataclass(frozen=True)
class Layout:
    """How to read any part of the file.

    `names`, `fields` and `reasons` have one element per column. A field is None if the column is kept as a property. A
    reason is a MappingReason; there are none if the file was split by a version that did not keep them. They do not
    count when layouts are compared.
    `newline` is the character that represents a line break inside a cell (None: no character does).
    `date_order` is DMY or MDY. `body_start` is the byte and `body_line` the physical line where the records begin.
    `has_header`: the records come after a header; otherwise a line that names the delimiter may be before them.
    """

    encoding: str
    grammar: Grammar
    newline: str | None
    names: tuple[str, ...]
    fields: tuple[str | None, ...]
    date_order: str
    body_start: int
    body_line: int
    has_header: bool = True
    reasons: tuple[str, ...] = field(default=(), compare=False)

    def to_json(self) -> str:
        """Return the layout as JSON text for `from_json`."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Layout:
        """Return the layout that `to_json` wrote in this version or another one, without what is unknown here."""
        values = _select_known(cls, json.loads(text))
        values["grammar"] = Grammar(**_select_known(Grammar, values["grammar"]))
        # The layouts of files that an earlier version split have neither `has_header` nor `reasons`.
        values.setdefault("has_header", values["body_line"] > 1)
        for name in ("names", "fields", "reasons"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)

    def fingerprint_header(self) -> str | None:
        """Return the hash by which a profile is suggested for a file, in hexadecimal; None for one without a header."""
        return compute_header_fingerprint(self.names, self.grammar.delimiter) if self.has_header else None

    def find_columns(self, field: str) -> list[int]:
        """Return the indexes of the columns that feed a field, in file order."""
        return [index for index, name in enumerate(self.fields) if name == field]


def _select_known(kind: type[Layout] | type[Grammar], values: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
