"""The options of an import, and the constants that the command has of the importer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, get_args

import pytest

from core.caller import MAX_TENANT_CHARACTERS, MAX_USER_CHARACTERS
from core.codes import Rejection
from core.contracts.imports.options import SingleFileOptions
from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.imports.uploads import MAX_CASE_CHARACTERS, MAX_KEY_BYTES
from core.load_file import field_mapping
from core.load_file.encoding import _NAMES
from core.load_file.header_names import TIME_FIELDS
from core.load_file.options import list_characters
from core.load_mode import Blanks, Mode, MultiValues, OverlayKey
from core.statuses import ImportStatus
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.importing import checks, fields, options, state, summary
from exhibit_ingest.importing.options import build_api_options, read_options
from tools import code_tables


def parse(*arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["import", "a.dat", "--case", "c", *arguments])


def test_a_mapping_may_be_columns_alone_and_arguments_win(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.json"
    mapping.write_text('{"columns": {"1": "control_number"}, "encoding": "cp1252"}')
    found = read_options(parse("--mapping", str(mapping), "--encoding", "utf-8", "--header-line", "3"))
    assert found == {"columns": {"1": "control_number"}, "encoding": "utf-8", "header_line": 3}
    assert build_api_options(found) == {"columns": {"1": "control_number"}, "encoding": "utf-8", "headerLine": 3}


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"colums": {}}', '{"columns": {"1": "no such field"}}', '{"delimiter": "  "}', b"\xff\xff"],
)
def test_a_mapping_that_cannot_be_options_is_wrong_usage(tmp_path: Path, text: str | bytes) -> None:
    mapping = tmp_path / "mapping.json"
    mapping.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(WrongUsageError):
        read_options(parse("--mapping", str(mapping)))


@pytest.mark.parametrize("given", ["20", "thorn", "TAB", "|", "þ", "none"])
def test_a_character_can_be_written_as_the_importer_reads_it(given: str) -> None:
    assert read_options(parse("--qualifier", given)) == {"qualifier": given}


def list_values(kind: Any) -> tuple[str, ...]:
    return tuple(each.value for each in kind)


def test_the_constants_are_those_of_the_importer() -> None:
    assert (fields.KEYS, fields.TEXTS, fields.DATES) == (KEYS, TEXTS, DATE_FIELDS)
    assert list(TIME_FIELDS.values()) == [*fields.TIMES]
    assert field_mapping.FIELDS == fields.FIELDS
    assert field_mapping.ORIGINAL_LINE == fields.ORIGINAL_LINE
    kinds = (Mode, OverlayKey, Blanks, MultiValues)
    own = (fields.MODES, fields.OVERLAY_KEYS, fields.BLANKS, fields.MULTI_VALUES)
    assert tuple(map(list_values, kinds)) == own
    assert {*SingleFileOptions.model_fields} == options.KNOWN
    assert _NAMES.keys() == options.ENCODING_NAMES
    assert tuple(word for word, _ in list_characters()) == options.CHARACTERS
    lengths = (MAX_TENANT_CHARACTERS, MAX_CASE_CHARACTERS, MAX_USER_CHARACTERS)
    assert tuple(checks._MOST_CHARACTERS.values()) == lengths
    assert checks._MOST_KEY_BYTES == MAX_KEY_BYTES


def test_the_names_of_statuses_and_codes_are_those_of_the_stack() -> None:
    statuses = {*state._FAILED, *state._FINISHED, state.SPLITTING}
    assert statuses <= {*list_values(ImportStatus)}
    codes = {
        *(summary.EXISTS_WITH_OTHER_VALUES, summary.HAS_PAGES, summary.PAGES_OF_REJECTED_ROW, summary.CHUNK_FAILED)
    }
    assert codes <= {*list_values(Rejection)}


def test_the_explanations_are_those_of_the_importer() -> None:
    assert code_tables.OF_COMMAND.read_text("utf-8") == code_tables.build_codes("")


def test_the_importer_reads_every_choice_of_an_argument() -> None:
    allowed = get_args(SingleFileOptions.model_fields["mode"].annotation)[0]
    assert get_args(allowed) == fields.MODES
