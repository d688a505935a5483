"""What the generator promises of its files; that their truth is true is shown where the importer reads them."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import samples
from samples.columns import Role
from samples.demo import SPEC, demo_file, describe
from samples.dialects import COMMA, CONCORDANCE, Quoting
from samples.generator import generate
from samples.large import write_large
from samples.spec import REJECTED, Fault, FaultKind, Spec, SpecError
from samples.strategies import specs
from samples.volume import VolumeSpec, generate_volume


@given(specs())
def test_the_same_spec_gives_the_same_file_and_another_database_only_another_truth(spec: Spec) -> None:
    first, again = generate(spec), generate(spec)
    assert (first.data, first.truth, first.options) == (again.data, again.truth, again.options)
    other = generate(replace(spec, db_charset="utf8mb4"))
    assert (first.data, first.options, first.planted) == (other.data, other.options, other.planted)
    assert generate(replace(spec, seed=spec.seed + 1, rows=9)).data != generate(replace(spec, rows=9)).data


def test_impossible_specs_are_refused_with_a_reason() -> None:
    with pytest.raises(SpecError, match="quotable"):
        generate(Spec(dialect=COMMA, quoting=Quoting.FIRST_TWO))
    with pytest.raises(SpecError, match="trailing"):
        generate(Spec(header=False, trailing_delimiter=True))
    with pytest.raises(SpecError, match="row 0 cannot have a duplicate"):
        generate(Spec(faults=(Fault(FaultKind.DUPLICATE_ID, 0),)))


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


def test_after_an_unclosed_quote_comes_a_record_that_is_recognised() -> None:
    neighbours = (Fault(FaultKind.UNCLOSED_QUOTE, 2), Fault(FaultKind.FEWER_CELLS, 3))
    assert len(generate(Spec(rows=6, dialect=CONCORDANCE, faults=neighbours)).truth.rejected) == 2
    with pytest.raises(SpecError):
        generate(Spec(rows=6, dialect=COMMA, quoting=Quoting.MINIMAL, faults=neighbours))


def test_random_faults_are_planted_in_rows_of_their_own() -> None:
    generated = generate(Spec(rows=200, faults=tuple(Fault(kind) for kind in FaultKind) * 3))
    rows = [fault.row for fault in generated.planted]
    assert len(rows) == len(set(rows)) == 3 * len(FaultKind)
    assert len(generated.truth.rejected) == 3 * len(REJECTED)


@pytest.mark.parametrize("size", [1, 5_000, 123_456])
def test_a_size_is_reached_and_passed_by_less_than_a_record(tmp_path: Path, size: int) -> None:
    large = write_large(tmp_path / "large.dat", size=size, spec=Spec(rows=20))
    assert large.path.stat().st_size == large.size >= size
    shorter = write_large(tmp_path / "shorter.dat", rows=max(0, large.rows_seen - 1), spec=Spec(rows=20))
    assert not large.rows_seen or shorter.size < size


def test_the_demo_tells_what_happens_to_each_planted_row() -> None:
    attachment, *specials = describe()
    assert len(specials) == len(SPEC.faults)
    records = demo_file().truth.records
    assert {special.line for special in specials} == {r.first_line for r in records if r.codes or r.warnings}
    roles = [column.role for column in demo_file().truth.columns]
    [parent, child] = [r for r in records if r.control_number in (attachment.parent, attachment.control_number)]
    assert (child.first_line, child.cells[roles.index(Role.PARENT)]) == (attachment.line, "")
    assert child.cells[roles.index(Role.FAMILY_BEGIN)] == parent.cells[roles.index(Role.BATES_BEGIN)]
    assert parent.control_number not in child.cells


@pytest.mark.parametrize("families", [1, 2, 4, 10])
def test_a_page_that_the_image_load_file_leaves_out_is_in_a_range_of_the_data_file_only(families: int) -> None:
    volume = generate_volume(VolumeSpec(families=families))
    files = dict(volume.list_files())
    rows = [row.split("\x14") for row in files["DATA/VOL001.dat"].decode("utf-8-sig").splitlines()[1:]]
    ranges = [[cell.strip("þ") for cell in row[:2]] for row in rows]
    keys = [line.split(",")[0] for line in files["DATA/VOL001.opt"].decode().splitlines()]
    missing = [fault.place for fault in volume.faults if fault.code == "PAGES_MISSING"]
    assert len(missing) == (families > 1)
    for number in missing:
        assert [begin < number < end for begin, end in ranges].count(True) == 1
        assert number not in keys
        assert f"IMAGES/{number}.tif" not in files
    assert len(set(keys)) == len(keys) == volume.pages + 1
