"""What the writer of large files and the demo promise."""

import tracemalloc
from itertools import product
from pathlib import Path

import pytest

from samples.demo import FILE_NAME, SPEC, demo_file, describe, write_demo
from samples.dialects import COMMA, Quoting
from samples.large import write_large
from samples.spec import Fault, FaultKind, Spec, SpecError

FAULTS = (Fault(FaultKind.MISSING_ID), Fault(FaultKind.DUPLICATE_ID), Fault(FaultKind.UNCLOSED_QUOTE, 3))
SPECS = [
    Spec(rows=7, faults=FAULTS),
    Spec(rows=7, encoding="utf-16-le", final_newline=False, embedded_newlines=True, spice=1.0),
    Spec(rows=7, dialect=COMMA, quoting=Quoting.MINIMAL, encoding="utf-8", blank_lines=True, faults=FAULTS),
]


@pytest.mark.parametrize(("spec", "rows"), [*product(SPECS, (1, 7, 20))])
def test_the_truth_of_a_large_file_fits_its_bytes(tmp_path: Path, spec: Spec, rows: int) -> None:
    large = write_large(tmp_path / "large.dat", rows=rows, spec=spec)
    data = large.path.read_bytes()
    records = list(large.records())
    assert len(data) == large.size
    assert len(records) == large.rows_seen == rows
    assert large.rejected == sum(not record.imported for record in records)
    for record in records:
        text = data[record.byte_start : record.byte_start + record.byte_len].decode(large.block.truth.encoding)
        before = data[: record.byte_start].decode(spec.encoding)
        assert record.first_line == before.count("\n") + 1
        assert (record.control_number or "") in text
        assert record.cells[-1] in text
    assert records[-1].byte_start + records[-1].byte_len == len(data)
    assert data.decode(spec.encoding).endswith("\n") == spec.final_newline


def test_ids_of_a_large_file_repeat_only_where_the_truth_says(tmp_path: Path) -> None:
    records = list(write_large(tmp_path / "large.dat", rows=50, spec=SPECS[0]).records())
    seen: dict[str, int] = {}
    for record in records:
        if record.control_number and "WRONG_CELL_COUNT" not in record.codes:
            assert record.duplicate_of_line == seen.get(record.control_number)
            seen.setdefault(record.control_number, record.first_line)


@pytest.mark.parametrize("size", [1, 5_000, 123_456])
def test_a_size_is_reached_and_passed_by_less_than_a_record(tmp_path: Path, size: int) -> None:
    large = write_large(tmp_path / "large.dat", size=size, spec=Spec(rows=20))
    assert large.size >= size
    assert large.rows_seen == 0 or large.record(large.rows_seen - 1).byte_start < size


def test_writing_a_large_file_needs_flat_memory(tmp_path: Path) -> None:
    peaks = []
    for size in (500_000, 5_000_000):
        tracemalloc.start()
        write_large(tmp_path / "large.dat", size=size, spec=Spec(rows=100))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5


def test_a_block_may_not_end_in_a_damaged_quote(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        write_large(tmp_path / "large.dat", rows=9, spec=Spec(rows=4, faults=(Fault(FaultKind.UNCLOSED_QUOTE, 3),)))


def test_the_demo_tells_what_happens_to_each_planted_row() -> None:
    specials = describe()
    assert len(specials) == len(SPEC.faults)
    told = {special.line for special in specials}
    truth = demo_file().truth
    assert told == {record.first_line for record in truth.records if record.codes or record.warnings}


def test_the_demo_file_is_written_to_a_new_folder(tmp_path: Path) -> None:
    path = write_demo(tmp_path / "new")
    assert (path.name, path.read_bytes()) == (FILE_NAME, demo_file().data)
