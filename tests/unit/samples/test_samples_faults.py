"""What the truth says of planted faults."""

import pytest

from samples.columns import Role
from samples.dialects import COMMA, CONCORDANCE, Quoting
from samples.generator import Generated, generate
from samples.oracle import Record
from samples.spec import REJECTED, Fault, FaultKind, Spec, SpecError

REJECTIONS = {
    FaultKind.MISSING_ID: "MISSING_ID",
    FaultKind.BLANK_ID: "MISSING_ID",
    FaultKind.DUPLICATE_ID: "DUPLICATE_ID",
    FaultKind.MORE_CELLS: "WRONG_CELL_COUNT",
    FaultKind.FEWER_CELLS: "WRONG_CELL_COUNT",
    FaultKind.UNCLOSED_QUOTE: "MALFORMED_QUOTING",
    FaultKind.BAD_BYTE: "UNDECODABLE_BYTES",
    FaultKind.LONG_ID: "KEY_TOO_LONG",
    FaultKind.WIDE_ID: "KEY_NOT_STORABLE",
    FaultKind.WIDE_CUSTODIAN: "KEY_NOT_STORABLE",
}
WARNINGS = {
    FaultKind.INVALID_DATE: ("INVALID_DATE", Role.DOCUMENT_DATE),
    FaultKind.EMOJI_TITLE: ("CHARACTERS_REMOVED", Role.TITLE),
    FaultKind.EMOJI_PROPERTY: ("CHARACTERS_REMOVED", Role.PROPERTY),
    FaultKind.HUGE_PROPERTY: ("PROPERTY_DROPPED", Role.PROPERTY),
    FaultKind.LONG_TITLE: ("VALUE_TRUNCATED", Role.TITLE),
    FaultKind.NAME_CASE: ("NAME_MERGED", Role.CUSTODIAN),
}
NEEDS_UTF8MB3 = [FaultKind.WIDE_ID, FaultKind.WIDE_CUSTODIAN, FaultKind.EMOJI_TITLE, FaultKind.EMOJI_PROPERTY]


def with_fault(kind: FaultKind, db_charset: str = "utf8mb3") -> tuple[Generated, Record]:
    generated = generate(Spec(rows=8, faults=(Fault(kind, 4),), db_charset=db_charset))
    return generated, generated.truth.records[4]


@pytest.mark.parametrize("kind", REJECTIONS)
def test_a_rejecting_fault_costs_its_own_row_and_no_other(kind: FaultKind) -> None:
    generated, record = with_fault(kind)
    assert record.codes == {REJECTIONS[kind]}
    assert generated.truth.rejected == (record,)
    assert record.warnings == ()


@pytest.mark.parametrize("kind", WARNINGS)
def test_a_warned_row_is_imported_and_its_column_named(kind: FaultKind) -> None:
    generated, record = with_fault(kind)
    code, role = WARNINGS[kind]
    column = next(column for column in generated.truth.columns if column.role is role)
    assert [(warning.code, warning.column) for warning in record.warnings] == [(code, column.header)]
    assert generated.truth.rejected == ()


def test_a_utf8mb4_database_takes_4_byte_characters() -> None:
    for kind in NEEDS_UTF8MB3:
        _, record = with_fault(kind, "utf8mb4")
        assert (record.imported, record.warnings) == (True, ())


def test_every_kind_of_fault_has_an_expected_outcome() -> None:
    assert set(REJECTIONS) | set(WARNINGS) == set(FaultKind)
    assert set(REJECTIONS) == REJECTED


def test_a_duplicate_names_the_line_of_the_record_that_claimed_the_id_even_a_rejected_one() -> None:
    faults = (Fault(FaultKind.BAD_BYTE, 1), Fault(FaultKind.DUPLICATE_ID, 5, of=1))
    _, first, *_, loser = generate(Spec(rows=6, faults=faults)).truth.records
    assert loser.codes == {"DUPLICATE_ID"}
    assert (loser.control_number, loser.duplicate_of_line) == (first.control_number, first.first_line)


def test_a_fault_whose_outcome_could_be_argued_about_is_refused() -> None:
    repeats_a_long_id = (Fault(FaultKind.LONG_ID, 1), Fault(FaultKind.DUPLICATE_ID, 5, of=1))
    two_reasons = (Fault(FaultKind.BAD_BYTE, 1), Fault(FaultKind.MISSING_ID, 1))
    for faults in (repeats_a_long_id, two_reasons):
        with pytest.raises(SpecError):
            generate(Spec(rows=6, faults=faults))


def test_after_an_unclosed_quote_comes_a_record_that_can_be_told() -> None:
    neighbours = (Fault(FaultKind.UNCLOSED_QUOTE, 2), Fault(FaultKind.FEWER_CELLS, 3))
    assert len(generate(Spec(rows=6, dialect=CONCORDANCE, faults=neighbours)).truth.rejected) == 2
    with pytest.raises(SpecError):
        generate(Spec(rows=6, dialect=COMMA, quoting=Quoting.MINIMAL, faults=neighbours))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16-be"])
def test_a_bad_byte_cannot_be_decoded_and_spoils_its_own_record_only(encoding: str) -> None:
    for seed in range(8):
        generated = generate(Spec(rows=3, seed=seed, encoding=encoding, faults=(Fault(FaultKind.BAD_BYTE, 1),)))
        record = generated.truth.records[1]
        with pytest.raises(UnicodeDecodeError):
            generated.data[record.byte_start : record.byte_start + record.byte_len].decode(encoding)
        generated.data[: record.byte_start].decode(encoding)
        generated.data[record.byte_start + record.byte_len :].decode(encoding)


def test_sizes_of_oversized_values_pass_their_limits() -> None:
    truth = with_fault(FaultKind.HUGE_PROPERTY)[0].truth
    assert len((truth.cell(truth.records[4], Role.PROPERTY) or "").encode()) > 65_535
    truth = with_fault(FaultKind.LONG_TITLE)[0].truth
    assert 1_024 < len(truth.cell(truth.records[4], Role.TITLE) or "") < 1_200
    assert len(with_fault(FaultKind.LONG_ID)[1].control_number or "") > 255


def test_names_are_created_in_the_spelling_of_the_lowest_line_and_a_hot_custodian_is_on_every_row() -> None:
    generated, record = with_fault(FaultKind.NAME_CASE)
    (shouted,) = record.custodians
    assert shouted.isupper()
    assert shouted not in generated.truth.custodian_names
    assert shouted in {name.upper() for name in generated.truth.custodian_names}
    records = generate(Spec(rows=30, hot_custodian="Hot, Harriet")).truth.records
    assert all(record.custodians[0] == "Hot, Harriet" for record in records)


def test_random_faults_are_planted_in_rows_of_their_own() -> None:
    generated = generate(Spec(rows=200, faults=tuple(Fault(kind) for kind in FaultKind) * 3))
    rows = [fault.row for fault in generated.planted]
    assert len(rows) == len(set(rows)) == 3 * len(FaultKind)
    assert len(generated.truth.rejected) == 3 * len(REJECTED)
