"""Faults: where they can be placed, and how they change a row.

Guarantees: at most one fault of a row rejects it; no fault is placed where its result would be ambiguous, such as after
an unclosed quote whose end cannot be determined.
Does not guarantee: that every fault without a fixed row finds one.
"""

import random
from collections.abc import Mapping, Sequence

from samples.columns import Role
from samples.dialects import Quoting, encode
from samples.rows import Row, Sheet
from samples.spec import PROPERTIES_LIMIT, REJECTED, STRUCTURAL, TITLE_LIMIT, Fault, FaultKind, Spec, SpecError
from samples.words import build_text

BAD_MARK = "\ufffd"
_ASCII_WORDS = ("agreement", "board", "contract", "delivery", "exhibit", "figures", "meeting", "notice", "of", "the")
_WITHOUT_ID = STRUCTURAL | {FaultKind.MISSING_ID, FaultKind.BLANK_ID}
# A row that repeats a long or wide id would have two rejection codes.
_NOT_REPEATED = _WITHOUT_ID | {FaultKind.LONG_ID, FaultKind.WIDE_ID, FaultKind.DUPLICATE_ID}
_CUSTODIAN_FAULTS = {FaultKind.WIDE_CUSTODIAN, FaultKind.NAME_CASE}
_UTF8_BAD = (b"\xff", b"\xfe", b"\xe9", b"\x80", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80")

Planted = dict[int, tuple[Fault, ...]]


def place_faults(spec: Spec, rng: random.Random) -> Planted:
    """Return the faults of each row; raises SpecError where a fault cannot be placed in the row that it names."""
    planted: Planted = {}
    for fault in sorted(spec.faults, key=lambda fault: (fault.row is None, fault.row or 0)):
        rows = range(spec.rows) if fault.row is None else [fault.row]
        legal = [row for row in rows if _may_place(spec, planted, fault, row)]
        if legal:
            row = legal[0] if fault.row is not None else rng.choice(legal)
            planted[row] = (*planted.get(row, ()), _set_original(spec, planted, fault, row, rng))
        elif fault.row is not None:
            raise SpecError(f"row {fault.row} cannot have a {fault.kind.value}")
    return planted


def list_kinds(planted: Mapping[int, Sequence[Fault]], row: int) -> set[FaultKind]:
    """Return the kinds of fault of one row."""
    return {fault.kind for fault in planted.get(row, ())}


def _may_place(spec: Spec, planted: Planted, fault: Fault, row: int) -> bool:
    present = list_kinds(planted, row)
    if not 0 <= row < spec.rows or fault.kind in present or (present and fault.row is None):
        return False
    if (fault.kind in REJECTED and present & REJECTED) or not _may_combine({fault.kind} | present):
        return False
    if not spec.header and row == 0 and fault.kind in STRUCTURAL | {FaultKind.BAD_BYTE}:
        return False
    if fault.kind is FaultKind.DUPLICATE_ID and not _originals(spec, planted, fault, row):
        return False
    if fault.kind is FaultKind.NAME_CASE and _namesake(planted, row) is None:
        return False
    return _keeps_record_ends(spec, planted, fault.kind, row) and _keeps_references(planted, fault.kind, row)


def _may_combine(together: set[FaultKind]) -> bool:
    clashes = (
        {FaultKind.EMOJI_PROPERTY, FaultKind.HUGE_PROPERTY},
        _CUSTODIAN_FAULTS,
        {FaultKind.BAD_BYTE, FaultKind.LONG_TITLE},
        {FaultKind.BAD_BYTE, FaultKind.EMOJI_TITLE},
    )
    return not any(clash <= together for clash in clashes)


def _keeps_record_ends(spec: Spec, planted: Planted, kind: FaultKind, row: int) -> bool:
    """Return whether the row after an unclosed quote can still be recognized as a record."""
    if spec.starts_quoted:
        return True
    obscure = STRUCTURAL | {FaultKind.BAD_BYTE}
    follows = FaultKind.UNCLOSED_QUOTE in list_kinds(planted, row - 1) and kind in obscure
    return not follows and not (kind is FaultKind.UNCLOSED_QUOTE and list_kinds(planted, row + 1) & obscure)


def _keeps_references(planted: Planted, kind: FaultKind, row: int) -> bool:
    """Return whether the fault leaves a row unchanged whose id or custodian another row repeats."""
    references = [fault for faults in planted.values() for fault in faults if fault.of == row]
    conflicting = _NOT_REPEATED | _CUSTODIAN_FAULTS | REJECTED
    return not references or kind not in conflicting


def _originals(spec: Spec, planted: Planted, fault: Fault, row: int) -> list[int]:
    earlier = range(min(row, spec.rows)) if fault.of is None else [fault.of]
    return [at for at in earlier if 0 <= at < row and not list_kinds(planted, at) & _NOT_REPEATED]


def _namesake(planted: Planted, row: int) -> int | None:
    excluded = REJECTED | _CUSTODIAN_FAULTS
    return next((at for at in range(row - 1, -1, -1) if not list_kinds(planted, at) & excluded), None)


def _set_original(spec: Spec, planted: Planted, fault: Fault, row: int, rng: random.Random) -> Fault:
    if fault.kind is FaultKind.DUPLICATE_ID:
        return Fault(fault.kind, row, rng.choice(_originals(spec, planted, fault, row)))
    if fault.kind is FaultKind.NAME_CASE:
        return Fault(fault.kind, row, _namesake(planted, row))
    return Fault(fault.kind, row)


def apply_faults(sheet: Sheet, rows: Sequence[Row], planted: Planted, rng: random.Random) -> None:
    """Change cells and meaning of the rows; structural damage is applied last, after all other faults."""
    for at, faults in sorted(planted.items()):
        row = rows[at]
        row.faults = frozenset(fault.kind for fault in faults)
        for fault in sorted(faults, key=lambda fault: list(FaultKind).index(fault.kind)):
            if fault.kind not in STRUCTURAL:
                _apply(sheet, rows, row, fault, rng)
    for at in sorted(planted):
        _damage(sheet, rows[at], rng)


def _apply(sheet: Sheet, rows: Sequence[Row], row: Row, fault: Fault, rng: random.Random) -> None:
    match fault.kind:
        case FaultKind.MISSING_ID | FaultKind.BLANK_ID:
            row.control = ""
            sheet.write(row, Role.ID, "" if fault.kind is FaultKind.MISSING_ID else "   ")
        case FaultKind.DUPLICATE_ID:
            _rename(sheet, row, rows[fault.of or 0].control)
        case FaultKind.LONG_ID:
            _rename(sheet, row, row.control + "X" * 300)
        case FaultKind.WIDE_ID:
            _rename(sheet, row, row.control + "😀")
        case FaultKind.WIDE_CUSTODIAN:
            _set_custodian(sheet, row, f"Quill, Ada 🦉{row.index}")
        case FaultKind.NAME_CASE:
            _set_custodian(sheet, row, _ensure_custodian(sheet, rows[fault.of or 0]).upper())
        case FaultKind.INVALID_DATE:
            row.date, row.invalid_date = None, True
            sheet.write(row, Role.DOCUMENT_DATE, sheet.dates.draw_invalid(rng))
        case _:
            _apply_to_text(sheet, row, fault.kind, rng)


def _rename(sheet: Sheet, row: Row, control: str) -> None:
    row.control = control
    sheet.write(row, Role.ID, control)


def _set_custodian(sheet: Sheet, row: Row, name: str) -> None:
    row.custodian, row.all_custodians = (name,), ()
    sheet.write(row, Role.CUSTODIAN, name)
    sheet.write(row, Role.ALL_CUSTODIANS, "")


def _ensure_custodian(sheet: Sheet, row: Row) -> str:
    """Return the row's custodian; sets one where the row has none or one without upper and lower case."""
    if not row.custodian or row.custodian[0].upper() == row.custodian[0]:
        _set_custodian(sheet, row, "Smith, Anna")
    return row.custodian[0]


def _apply_to_text(sheet: Sheet, row: Row, kind: FaultKind, rng: random.Random) -> None:
    words = build_text(rng, _ASCII_WORDS, 24)
    match kind:
        case FaultKind.LONG_TITLE:
            sheet.write(row, Role.TITLE, build_text(rng, _ASCII_WORDS, TITLE_LIMIT + 75) + "x")
        case FaultKind.HUGE_PROPERTY:
            sheet.write(row, Role.PROPERTY, build_text(rng, _ASCII_WORDS, PROPERTIES_LIMIT + 4_465) + "x")
        case FaultKind.EMOJI_TITLE:
            sheet.write(row, Role.TITLE, f"{words} 🎉 {words}")
        case FaultKind.EMOJI_PROPERTY:
            sheet.write(row, Role.PROPERTY, f"{words} 🎉 {words}")
        case FaultKind.BAD_BYTE:
            row.bad_bytes = _bad_bytes(sheet.spec, rng)
            sheet.write(row, Role.TITLE, f"{words} d{BAD_MARK}ja vu {_utf8_evidence(sheet.spec)}")
        case _:
            raise SpecError(f"no row can have a {kind.value}")


def _bad_bytes(spec: Spec, rng: random.Random) -> bytes:
    if spec.encoding == "cp1252":
        return rng.choice((b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"))
    if spec.encoding.startswith("utf-16"):
        return b"\xd8\x00" if spec.encoding == "utf-16-be" else b"\x00\xd8"
    return rng.choice(_UTF8_BAD)


def _utf8_evidence(spec: Spec) -> str:
    """Return text with enough valid sequences that a UTF-8 file with bad bytes is not detected as cp1252."""
    return "é l é m é n t é" if encode("é", spec.encoding) == b"\xc3\xa9" else "elements"


def _damage(sheet: Sheet, row: Row, rng: random.Random) -> None:
    if FaultKind.FEWER_CELLS in row.faults:
        row.wrong_count = True
        del row.cells[-1 if len(row.cells) < 6 else -rng.randint(1, 2) :]
    if FaultKind.MORE_CELLS in row.faults:
        row.wrong_count = True
        row.cells += rng.choice((["surplus"], [""], ["surplus", "cells"]))
    if FaultKind.UNCLOSED_QUOTE in row.faults:
        row.unclosed = _unclosed_cell(sheet, row, rng)


def _unclosed_cell(sheet: Sheet, row: Row, rng: random.Random) -> int:
    last = 2 if sheet.spec.quoting is Quoting.FIRST_TWO else len(row.cells)
    filled = [at for at in range(1, last) if row.cells[at]]
    if not filled:
        row.cells[1] = "unclosed"
    return rng.choice(filled or [1])
