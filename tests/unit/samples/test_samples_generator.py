"""What the generator promises of every file that it makes."""

import ast
import unicodedata
from dataclasses import replace
from datetime import datetime
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given

import samples
from samples.columns import Role
from samples.dates import DateFormat
from samples.dialects import COMMA, ENCODINGS, THORN, Quoting
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec, SpecError
from samples.strategies import specs
from samples.words import Alphabet
from tests.unit.samples.strict_reader import decoded, read


@given(specs())
def test_a_reader_who_follows_the_rules_finds_the_records_of_the_truth_where_and_as_it_says(spec: Spec) -> None:
    generated = generate(spec)
    truth, found = generated.truth, read(generated)
    assert [record.line for record in found] == [record.first_line for record in truth.records]
    at, newline = truth.header_len, "\n".encode(truth.encoding)
    for record, true in zip(found, truth.records, strict=True):
        assert record.text.count("\n") + (not record.text.endswith("\n")) == true.line_count
        assert (record.cells is None) == ("MALFORMED_QUOTING" in true.codes)
        if "WRONG_CELL_COUNT" in true.codes or true.imported:
            assert record.cells == list(true.cells)
        if true.imported:
            assert len(true.cells) == len(truth.columns)
        gap, before = generated.data[at : true.byte_start], generated.data[: true.byte_start]
        assert gap.decode(truth.encoding) in ("", spec.newline)
        assert spec.blank_lines or gap == b""
        units = [before[unit : unit + len(newline)] for unit in range(0, len(before), len(newline))]
        assert true.first_line == 1 + units.count(newline)
        at = true.byte_start + true.byte_len
    assert at == len(generated.data)
    for each in truth.records:
        if not each.codes and not each.warnings:
            assert each.imported
            assert each.control_number == (truth.cell(each, Role.ID) or "").strip()
            assert list(each.tags) == _values(truth.cell(each, Role.TAGS))
            people = _values(truth.cell(each, Role.CUSTODIAN)) + _values(truth.cell(each, Role.ALL_CUSTODIANS))
            assert list(each.custodians) == list(dict.fromkeys(people))
            assert (each.parent or "") == (truth.cell(each, Role.PARENT) or "")


@given(specs())
def test_the_same_spec_gives_the_same_file_and_another_database_only_another_truth(spec: Spec) -> None:
    first, again = generate(spec), generate(spec)
    assert (first.data, first.truth, first.options) == (again.data, again.truth, again.options)
    other = generate(replace(spec, db_charset="utf8mb4"))
    assert (first.data, first.options, first.planted) == (other.data, other.options, other.planted)
    assert generate(replace(spec, seed=spec.seed + 1, rows=9)).data != generate(replace(spec, rows=9)).data


@given(specs(encodings=["utf-8", "cp1252"], headers=[True]))
def test_without_thorns_the_encoding_follows_from_most_sequences(spec: Spec) -> None:
    generated = generate(spec)
    if spec.dialect.qualifier == THORN:
        return
    try:
        generated.data.decode("utf-8")
        assert generated.truth.encoding == "utf-8" or spec.explicit_dialect
    except UnicodeDecodeError:
        text = generated.data.decode("utf-8", "surrogateescape")
        invalid = sum("\udc80" <= letter <= "\udcff" for letter in text)
        valid = sum(not letter.isascii() for letter in text) - invalid
        assert (valid > invalid) == (spec.encoding == "utf-8")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_word_is_in_normal_form_and_can_be_encoded(encoding: str) -> None:
    generated = generate(Spec(rows=80, encoding=encoding, alphabets=frozenset(Alphabet), property_length=(60, 90)))
    text = decoded(generated)
    assert unicodedata.is_normalized("NFC", text)
    assert "\ufffd" not in text


def _values(cell: str | None) -> list[str]:
    return [value.strip() for value in cell.split(";")] if cell else []


def test_impossible_specs_are_refused_with_a_reason() -> None:
    with pytest.raises(SpecError, match="quotable"):
        generate(Spec(dialect=COMMA, quoting=Quoting.FIRST_TWO))
    with pytest.raises(SpecError, match="trailing"):
        generate(Spec(header=False, trailing_delimiter=True))
    with pytest.raises(SpecError, match="row 0 cannot have a duplicate"):
        generate(Spec(faults=(Fault(FaultKind.DUPLICATE_ID, 0),)))


def test_headerless_files_come_with_the_columns_that_they_need() -> None:
    generated = generate(Spec(header=False, rows=3))
    columns = generated.truth.columns
    assert generated.options is not None
    assert generated.options["columns"] == {str(column.index + 1): column.field for column in columns}
    assert generated.truth.records[0].first_line == 1


PATTERNS = {
    DateFormat.MDY: "%m/%d/%Y",
    DateFormat.MDY_TIME: "%m/%d/%Y %I:%M %p",
    DateFormat.DMY: "%d/%m/%Y",
    DateFormat.DMY_TIME: "%d/%m/%Y %H:%M",
    DateFormat.ISO: "%Y-%m-%d",
    DateFormat.ISO_TIME: "%Y-%m-%d %H:%M:%S",
    DateFormat.ISO_UTC: "%Y-%m-%dT%H:%M:%SZ",
    DateFormat.YYYYMMDD: "%Y%m%d",
}


@pytest.mark.parametrize("written", DateFormat)
def test_dates_are_read_in_the_order_of_the_file(written: DateFormat) -> None:
    for ambiguous, given_order in product((False, True), repeat=2):
        spec = Spec(rows=30, date_format=written, ambiguous_dates=ambiguous, date_order_given=given_order)
        truth = generate(spec).truth
        unsure = ambiguous and written.has_slashes and not given_order
        pattern = PATTERNS[written].replace("%d/%m", "%m/%d") if unsure else PATTERNS[written]
        for record in truth.records:
            text = truth.cell(record, Role.DOCUMENT_DATE)
            assert record.document_date == (datetime.strptime(text, pattern) if text else None)
        assert ("AMBIGUOUS_DATE_ORDER" in truth.file_warnings) == unsure


@pytest.mark.parametrize("written", [DateFormat.MDY, DateFormat.DMY_TIME])
def test_an_unambiguous_file_shows_its_order_in_an_imported_row(written: DateFormat) -> None:
    for seed in range(20):
        truth = generate(Spec(rows=1, seed=seed, date_format=written)).truth
        numbers = (truth.cell(truth.records[0], Role.DOCUMENT_DATE) or "").split("/")
        assert int(numbers[written.order.index("D")]) > 12


def test_the_oracle_knows_nothing_of_the_importer() -> None:
    folder = Path(samples.__file__).parent
    imported = [
        name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    ]
    assert "samples.oracle" in imported
    assert {name.split(".")[0] for name in imported}.isdisjoint({"core", "shell", "local"})
