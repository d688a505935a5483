"""What is settled once for a whole file, so that its chunks cannot disagree."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from core.load_file.grammar import Grammar


@dataclass(frozen=True)
class Layout:
    """How to read any part of the file.

    `names` and `fields` have an element a column; a field is None where the column is kept as a property.
    `newline` stands for a line end inside a cell (None: nothing does). `date_order` is DMY or MDY.
    `body_start` is the byte, `body_line` the physical line at which the records begin.
    """

    encoding: str
    grammar: Grammar
    newline: str | None
    names: tuple[str, ...]
    fields: tuple[str | None, ...]
    date_order: str
    body_start: int
    body_line: int

    def to_json(self) -> str:
        """As text that `from_json` reads back."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Layout:
        """The layout that `to_json` wrote."""
        values = json.loads(text)
        values["grammar"] = Grammar(**values["grammar"])
        values["names"], values["fields"] = tuple(values["names"]), tuple(values["fields"])
        return cls(**values)

    def columns_of(self, field: str) -> list[int]:
        """The columns that feed a field, in file order."""
        return [index for index, name in enumerate(self.fields) if name == field]
