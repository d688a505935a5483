"""The CSV files that commands write: whole, and harmless in a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.csv_cells import neutralize_formula as neutralize_of_core
from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.output import neutralize_formula, write_csv


def test_a_csv_file_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    assert write_csv(file, ("a", "b"), [("=1+1", None), ("x, y", 2)]) == 2
    written = file.read_bytes()
    assert written == b'\xef\xbb\xbfa,b\r\n\'=1+1,\r\n"x, y",2\r\n'

    def fail() -> list[int]:
        raise CommandError("The network was lost.")

    with pytest.raises(CommandError, match="network"):
        write_csv(file, ("a",), (fail() for _ in range(1)))
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (written, [file])
    with pytest.raises(CommandError, match="cannot be written"):
        write_csv(tmp_path / "lost" / "list.csv", ("a",), [])


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@a", "\t", "＝", "\0", "\r", "a=1", "", "1"])
def test_cells_are_neutralized_as_in_the_reports(cell: str) -> None:
    assert neutralize_formula(cell) == neutralize_of_core(cell)
