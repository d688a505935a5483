"""Rows of a load file as the database can hold them, one row at a time.

Guaranteed: keys and names are stored as they are or the row is rejected; other texts are cut with an account of it.
`shell.plain_rows_ops` does the same, many times as fast, for rows that nothing has to be said about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.field_mapping import id_field
from core.load_file.chunk import SourceRecord
from core.load_file.layout import Layout
from core.rows import KEYS, TEXTS, Loss, Name, Problem, Row
from shell.utils.column_limits import Limits, column_limits
from shell.utils.data_sanitizer import fit_text
from shell.utils.document_properties import fit_properties
from shell.utils.keys import unstorable

# What a row is stored as. An exhibit has a version too, which begins at 1.
COLUMNS = (
    *("case_id", "control_number", "bates_begin", "bates_end", "parent_control_number"),
    *("title", "file_name", "native_path", "text_path", "document_date", "document_properties"),
    *("row_hash", "import_id", "line_no", "line_count"),
)


class FittedRow(NamedTuple):
    """A row as the database can hold it.

    `values` are in the order of COLUMNS; none if the row is rejected, or if nobody will want them: the case holds it.
    """

    source: SourceRecord
    control_number: str | None
    custodians: Sequence[Name] = ()
    tags: Sequence[Name] = ()
    problems: Sequence[Problem] = ()
    losses: Sequence[Loss] = ()
    row_hash: bytes = b""
    values: tuple[Any, ...] = ()


@dataclass
class Fitter:
    """Makes the rows of one import fit; keys that do not fit are problems, other texts are cut with a loss."""

    layout: Layout
    case_id: int
    import_id: int
    exhibits: Limits = field(default_factory=lambda: column_limits("exhibits"))
    names: Mapping[str, Limits] = field(
        default_factory=lambda: {"custodians": column_limits("custodians"), "tags": column_limits("tags")}
    )

    def fit(self, row: Row) -> FittedRow:
        """The row as it is stored; adds to the row's problems and losses."""
        self._check_keys(row)
        self._check_names(row, "custodians", row.custodians)
        self._check_names(row, "tags", row.tags)
        if row.problems:
            return FittedRow(row.source, row.control_number, problems=row.problems)
        texts = [self._text(row, field_name) for field_name in TEXTS]
        keys = [row.values.get(key) for key in KEYS[1:]]
        content = [row.control_number, *keys, *texts, row.document_date, self._properties(row)]
        # What the file says, not what is left of it here, and whatever the order of its columns.
        said = [row.control_number, sorted(row.values.items()), row.document_date, sorted(row.properties.items())]
        digest = hashlib.sha256(json.dumps(said, default=str).encode()).digest()
        values = (self.case_id, *content, digest, self.import_id, row.source.line_no, row.source.line_count)
        return FittedRow(row.source, row.control_number, row.custodians, row.tags, (), row.losses, digest, values)

    def _check_keys(self, row: Row) -> None:
        values = {"control_number": row.control_number, **row.values}
        # By column: where the begin Bates is the id as well, one cell is one problem.
        for column, key in {self._column(key): key for key in KEYS if values.get(key)}.items():
            reason = unstorable(str(values[key]), self.exhibits[key])
            if reason:
                row.problems.append(Problem(reason[0], column, reason[1]))

    def _check_names(self, row: Row, table: str, names: Iterable[Name]) -> None:
        for name in names:
            reason = unstorable(name.name, self.names[table]["name"])
            if reason:
                row.problems.append(Problem(reason[0], name.column, reason[1]))

    def _text(self, row: Row, field_name: str) -> str | None:
        value = row.values.get(field_name)
        if value is None:
            return None
        fitted, losses = fit_text(value, self.exhibits[field_name])
        column = self._column(field_name)
        row.losses += [Loss(loss.code, column, loss.message, value, loss.stored_bytes) for loss in losses]
        return fitted

    def _properties(self, row: Row) -> str | None:
        stored, losses = fit_properties(row.properties, self.exhibits["document_properties"])
        row.losses += [
            Loss(loss.code, loss.name, loss.message, row.properties.get(loss.name), loss.stored_bytes)
            for loss in losses
        ]
        return stored

    def _column(self, field_name: str) -> str | None:
        if field_name == "control_number":
            field_name = id_field(self.layout.fields)
        columns = self.layout.columns_of(field_name) or self.layout.columns_of("family_begin")
        return self.layout.names[columns[0]] if columns else None
