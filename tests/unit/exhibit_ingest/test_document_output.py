"""What is written of documents controls neither a terminal nor a spreadsheet, and a file is whole or not there."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.csv_cells import neutralize_formula as neutralize_in_api
from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.output import format_json, neutralize_formula, open_draft, print_list, write_csv
from exhibit_ingest.session.tables import Column, print_table
from tests.unit.exhibit_ingest.test_import_table import Terminal


@given(st.text())
def test_json_is_the_same_value_in_characters_that_can_be_displayed(text: str) -> None:
    written = format_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert written.replace("\n", "").isprintable()


@given(st.one_of(st.text(), st.sampled_from("=+-@\t\r\n\0＝＋－＠").map(lambda sign: f"{sign}1")))
def test_a_cell_is_neutralized_as_the_api_does(cell: str) -> None:
    assert neutralize_formula(cell) == neutralize_in_api(cell)


def test_a_csv_file_is_for_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "documents.csv"
    assert write_csv(path, ["control_number", "title"], [["=1+1", None], ["A-1", "a\nb"]]) == 2
    assert path.read_bytes() == b'\xef\xbb\xbfcontrol_number,title\r\n\'=1+1,\r\nA-1,"a\nb"\r\n'


def test_an_error_before_the_first_row_leaves_no_half_of_a_list() -> None:
    def rows() -> Iterator[dict[str, str]]:
        raise CommandError("too broad")
        yield {}

    output = io.StringIO()
    with pytest.raises(CommandError):
        print_list("documents", rows(), output)
    assert output.getvalue() == ""


def _fail_after(draft: Path, content: bytes) -> None:
    draft.write_bytes(content)
    raise CommandError("the connection is lost")


def test_a_file_takes_its_name_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "native.eml"
    with open_draft(path) as draft:
        draft.write_bytes(b"whole")
        assert not path.exists()
    with pytest.raises(CommandError, match="lost"), open_draft(path) as draft:
        _fail_after(draft, b"half")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(CommandError, match="cannot be written"), open_draft(tmp_path / "no" / "x"):
        pass


COLUMNS = (Column("control number"), Column("title", least=10), Column("pages", is_number=True, rank=1))
ROWS = [{"control number": f"SMITH-{'0' * 20}{number}", "title": "word " * 30, "pages": "7"} for number in range(3)]


def print_to(output: io.StringIO, width: int | None = None) -> str:
    print_table(COLUMNS, ROWS, output, width)
    return output.getvalue()


def test_a_piped_table_has_one_line_a_row_and_no_colors() -> None:
    lines = [line for line in print_to(io.StringIO()).splitlines() if "SMITH" in line]
    assert [line.split()[0] for line in lines] == [row["control number"] for row in ROWS]
    assert all("word" in line and line.split()[-1] == "7" for line in lines)
    assert "\x1b" not in print_to(io.StringIO())


@pytest.mark.parametrize("width", [200, 60, 45])
def test_a_control_number_is_whole_on_a_terminal(width: int) -> None:
    printed = print_to(Terminal(), width)
    assert all(row["control number"] in printed for row in ROWS)
    assert ("pages" in printed.splitlines()[1]) == (width > 45)


def test_a_control_number_continues_on_the_next_line_of_a_terminal_that_is_too_narrow() -> None:
    lines = [line[1:].split(" ")[0] for line in print_to(Terminal(), 20).splitlines()]
    assert "".join(row["control number"] for row in ROWS) in "".join(lines)


def test_a_hostile_text_does_not_control_the_terminal() -> None:
    output = Terminal()
    print_table([Column("title")], [{"title": "\x1b]0;owned\x07 \u202egnp.exe \x9b2J [bold]x[/]"}], output, 100)
    printed = output.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert printed.replace("\n", "").isprintable()
    assert "[bold]x[/]" in printed
