"""Exhibits of a case: what a row of a load file becomes, and what the case already holds of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from core.field_mapping import id_field
from core.load_file.layout import Layout
from core.rows import KEYS, TEXTS, Loss, Name, Problem, Row
from shell.utils.bulk_insert import insert_bisecting, insert_missing
from shell.utils.column_limits import Limits, column_limits
from shell.utils.data_sanitizer import fit_text
from shell.utils.document_properties import fit_properties
from shell.utils.keys import unstorable

COLUMNS = (
    *("case_id", "control_number", "bates_begin", "bates_end", "parent_control_number"),
    *("title", "file_name", "native_path", "text_path", "document_date", "document_properties"),
    *("row_hash", "import_id", "line_no", "line_count"),
)
_CONTROL_NUMBER, _LINE_NO = COLUMNS.index("control_number"), COLUMNS.index("line_no")


class StoredExhibit(NamedTuple):
    """What the case holds under a control number."""

    id: int
    import_id: int
    line_no: int
    row_hash: bytes | None


@dataclass
class FittedRow:
    """A row as the database can hold it: `values` in the order of COLUMNS (empty if the row is rejected)."""

    row: Row
    row_hash: bytes = b""
    values: tuple[Any, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether the row has any problem."""
        return bool(self.row.problems)


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
            return FittedRow(row)
        texts = [self._text(row, field_name) for field_name in TEXTS]
        keys = [row.values.get(key) for key in KEYS[1:]]
        content = [row.control_number, *keys, *texts, row.document_date, self._properties(row)]
        # What the file says, not what is left of it here, and whatever the order of its columns.
        said = [row.control_number, sorted(row.values.items()), row.document_date, sorted(row.properties.items())]
        digest = hashlib.sha256(json.dumps(said, default=str).encode()).digest()
        source = (self.import_id, row.source.line_no, row.source.line_count)
        return FittedRow(row, digest, (self.case_id, *content, digest, *source))

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


def stored_exhibits(transaction: Session, case_id: int, control_numbers: Sequence[str]) -> dict[str, StoredExhibit]:
    """What the case holds under these control numbers, by control number."""
    if not control_numbers:
        return {}
    statement = "SELECT control_number, id, import_id, line_no, row_hash FROM exhibits WHERE case_id = %s"
    rows = transaction.connection().exec_driver_sql(
        f"{statement} AND control_number IN ({_marks(control_numbers)})", (case_id, *control_numbers)
    )
    return {row[0]: StoredExhibit(*row[1:]) for row in rows}


def insert_exhibits(transaction: Session, rows: Sequence[FittedRow]) -> list[tuple[FittedRow, int | None]]:
    """Insert what the case does not hold yet; returns the rows whose values the server refused, with its error number.

    The first attempt is one statement a megabyte; only after an error that blames a value are rows tried apart.
    """
    by_line = {fitted.values[_LINE_NO]: fitted for fitted in rows}

    def insert(values: Sequence[tuple[Any, ...]]) -> None:
        insert_missing(transaction, "exhibits", COLUMNS, values, key=_CONTROL_NUMBER + 1)

    refused = insert_bisecting(transaction, insert, [fitted.values for fitted in rows])
    return [(by_line[values[_LINE_NO]], number) for values, number in refused]


def stored_links(transaction: Session, exhibit_ids: Sequence[int]) -> set[tuple[str, int, int]]:
    """The exhibits' links, as ("custodians" or "tags", exhibit id, id of the custodian or tag)."""
    if not exhibit_ids:
        return set()
    ids = tuple(exhibit_ids)
    custodians = "SELECT 'custodians', exhibit_id, custodian_id FROM custodian_exhibits WHERE exhibit_id IN"
    tags = "SELECT 'tags', exhibit_id, tag_id FROM taggings WHERE exhibit_id IN"
    rows = transaction.connection().exec_driver_sql(
        f"{custodians} ({_marks(ids)}) UNION ALL {tags} ({_marks(ids)})", (*ids, *ids)
    )
    return {(row[0], row[1], row[2]) for row in rows}


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))
