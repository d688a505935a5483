"""Generate a load file and the truth about it from a spec.

Guarantees: the same spec gives the same bytes, options and truth on every machine; `db_charset` changes only the truth.
Does not guarantee: constant memory; `samples.large` writes files larger than memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samples.columns import Column, Role, plan_columns
from samples.dates import DatePlan
from samples.dialects import NEWLINE_MARK, Quoting
from samples.faults import Planted, apply_faults, list_kinds, place_faults
from samples.oracle import Truth, judge
from samples.rows import Row, Sheet
from samples.spec import REJECTED, Fault, FaultKind, Spec, check
from samples.words import build_random
from samples.writer import WrittenFile, write_rows


@dataclass(frozen=True)
class Generated:
    """A load file, its truth, and the import options that it needs (None where it needs none)."""

    spec: Spec
    data: bytes
    truth: Truth
    options: dict[str, Any] | None
    planted: tuple[Fault, ...]

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        path.write_bytes(self.data)
        return path


def generate(spec: Spec) -> Generated:
    """Return the file of a spec; raises SpecError where the spec cannot be generated."""
    check(spec)
    columns = plan_columns(
        build_random(spec.seed, "columns"), spec.roles, spec.id_style, spec.id_position, spec.properties
    )
    planted = place_faults(spec, build_random(spec.seed, "places"))
    evident_row = _evident_row(spec, planted)
    plan = DatePlan(spec.date_format, spec.ambiguous_dates, _read_as(spec))
    sheet = Sheet(spec, columns, plan, evident_row)
    rows = list(sheet.rows())
    apply_faults(sheet, rows, planted, build_random(spec.seed, "faults"))
    written = write_rows(spec, columns, rows, build_random(spec.seed, "blank lines"))
    truth = _truth(spec, columns, rows, written, _file_warnings(spec, evident_row))
    faults = tuple(fault for row in sorted(planted) for fault in planted[row])
    return Generated(spec, written.data, truth, _options(spec, columns), faults)


def _evident_row(spec: Spec, planted: Planted) -> int | None:
    """Return the first row whose date is always read; it shows the date order, unless the spec keeps that ambiguous."""
    excluded = REJECTED | {FaultKind.INVALID_DATE}
    return next((row for row in range(spec.rows) if not list_kinds(planted, row) & excluded), None)


def _read_as(spec: Spec) -> str:
    guessed = spec.date_format.is_ordered and spec.ambiguous_dates and not spec.date_order_given
    return "MDY" if guessed else spec.date_format.order


def _file_warnings(spec: Spec, evident_row: int | None) -> tuple[str, ...]:
    if spec.rows == 0:
        return ("NO_ROWS",)
    dated = Role.DOCUMENT_DATE in spec.roles and evident_row is not None and spec.date_format.is_ordered
    unsure = dated and spec.ambiguous_dates and not spec.date_order_given
    return ("AMBIGUOUS_DATE_ORDER",) if unsure else ()


def _truth(
    spec: Spec, columns: tuple[Column, ...], rows: Sequence[Row], written: WrittenFile, warnings: tuple[str, ...]
) -> Truth:
    is_ascii = spec.encoding == "cp1252" and written.data.isascii() and not spec.explicit_dialect
    return Truth(
        records=judge(spec, columns, rows, written.spans),
        encoding="utf-8" if is_ascii or spec.encoding == "utf-8-sig" else spec.encoding,
        delimiter=spec.dialect.delimiter,
        qualifier=spec.dialect.qualifier,
        newline=spec.newline,
        newline_mark=NEWLINE_MARK if spec.marks_converted else "",
        columns=columns,
        has_header=spec.header,
        header_len=written.header_len,
        date_order=_read_as(spec),
        file_warnings=warnings,
    )


def _options(spec: Spec, columns: Sequence[Column]) -> dict[str, Any] | None:
    options: dict[str, Any] = {}
    hidden = not spec.header and spec.quoting is Quoting.MINIMAL and spec.dialect.qualifier not in ("", '"')
    if spec.explicit_dialect or hidden:
        options |= {"delimiter": spec.dialect.delimiter, "qualifier": spec.dialect.qualifier or "none"}
    if spec.explicit_dialect:
        options["encoding"] = spec.encoding.removesuffix("-sig")
    if spec.convert_marks is not None:
        options["newline"] = NEWLINE_MARK if spec.convert_marks else "none"
    if not spec.header:
        options |= {"header": False, "columns": {str(column.index + 1): column.field for column in columns}}
    if spec.date_order_given and spec.date_format.is_ordered:
        options["date_order"] = spec.date_format.order
    return options or None
