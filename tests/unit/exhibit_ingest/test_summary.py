"""What the command prints at the end, for people and for programs."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.explained_codes import REJECTION, explain_codes
from exhibit_ingest.importing.codes import CodeCounts
from exhibit_ingest.importing.column_lines import list_columns
from exhibit_ingest.importing.reports import Reports
from exhibit_ingest.importing.result import BatesRange, ImportResult
from exhibit_ingest.importing.state import to_snake_names
from exhibit_ingest.importing.summary import build_entry, build_reload_command, print_table
from exhibit_ingest.program import format_command
from tests.unit.exhibit_ingest.import_states import column, state

COLUMNS = [
    column("Doc ID", "control_number"),
    column("Keeper", "custodians", "given"),
    column("Author", None, "property", "person"),
    column("Pages", None, "property"),
]
OUTCOMES = [
    ImportResult(
        Path("a.dat"),
        state(
            status="completed_with_rejections",
            rows_seen=3,
            imported=2,
            rejected=1,
            custodians_created=1,
            details={"columns": COLUMNS},
        ),
        None,
        1.23456,
        Reports(Path("/r/rejected_rows.dat"), Path("/r/report.csv"), options=Path("/r/options.json")),
        CodeCounts({"MISSING_ID": 1}),
        bates=BatesRange("A-1", "A-9"),
    ),
    ImportResult(Path("b.dat"), None, "the file is empty", 0.1),
]


def test_the_help_names_all_keys_of_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["import", "--help"])
    shown = capsys.readouterr().out
    assert [key for key in build_entry(OUTCOMES[0]) if f'"{key}"' not in shown] == []


UNDATED = dict.fromkeys(("date_order", "time_zone", "time_zone_version", "time_column", "date_format", "separator"))


def test_the_json_has_the_keys_that_programs_rely_on() -> None:
    first, second = (json.loads(json.dumps(build_entry(each))) for each in OUTCOMES)
    assert first == {
        "file": "a.dat",
        "import_id": 7,
        "status": "completed_with_rejections",
        "error": None,
        "mode": None,
        "rows_seen": 3,
        "imported": 2,
        "unchanged": 0,
        "updated": 0,
        "rejected": 1,
        "warnings": 0,
        "custodians_created": 1,
        "tags_created": 0,
        "encoding": "utf-8",
        "delimiter": "\x14",
        "qualifier": "þ",
        "profile": None,
        "saved_profile": None,
        "pages": None,
        "bates": {"first": "A-1", "last": "A-9"},
        "stored_paths": None,
        "rejected_by_code": {"MISSING_ID": 1},
        "warnings_by_code": {},
        "columns": [
            {"name": "Doc ID", "field": "control_number", "why": "synonym", "looks_like": None, **UNDATED},
            {"name": "Keeper", "field": "custodians", "why": "given", "looks_like": None, **UNDATED},
            {"name": "Author", "field": None, "why": "property", "looks_like": "person", **UNDATED},
            {"name": "Pages", "field": None, "why": "property", "looks_like": None, **UNDATED},
        ],
        "seconds": 1.235,
        "reports": {
            "rejected_rows": "/r/rejected_rows.dat",
            "report": "/r/report.csv",
            "warnings": None,
            "options": "/r/options.json",
            "columns": None,
            "unreferenced": None,
            "deficiencies": None,
            "deficiencies_text": None,
        },
    }
    assert second.keys() == first.keys()
    assert (second["status"], second["error"], second["rows_seen"]) == ("failed", "the file is empty", 0)
    assert ImportResult(Path("c.dat"), state(status="cancelled"), "the import was cancelled", 1.0).status == "failed"


@pytest.mark.parametrize(
    ("case", "place", "tenant"),
    [('Smith v. Jones\' "$HOME"', [], None), ("-x", ["--tenant", "--tenant"], "--tenant")],
)
def test_the_command_that_loads_corrected_rows_is_whole(case: str, place: list[str], tenant: str | None) -> None:
    reports = Reports(Path("/my reports/1/rejected_rows.dat"), options=Path("/my reports/1/options.json"))
    words = shlex.split(build_reload_command(reports, case, place))
    assert words[0] == format_command()
    parsed = build_parser().parse_args(words[1:])
    assert (parsed.case, parsed.tenant, parsed.files) == (case, tenant, [reports.rejected_rows])
    assert parsed.mapping == reports.options


def printed_result(**changes: Any) -> str:
    output = io.StringIO()
    print_table([replace(OUTCOMES[0], **changes)], "c", [], output)
    return output.getvalue()


@pytest.mark.parametrize(("code", "corrects", "names_import"), [("MISSING_ID", 7, True), ("CHUNK_FAILED", 7, False)])
def test_the_next_command_names_the_import_whose_rows_a_file_can_correct(
    code: str, corrects: int, names_import: bool
) -> None:
    details = {"columns": COLUMNS, "correctableAs": corrects}
    printed = printed_result(codes=CodeCounts({code: 1}), state=state(rejected=1, details=details))
    command = printed.partition("Fix the rejected rows, then: ")[2].partition("\n")[0]
    parsed = build_parser().parse_args(shlex.split(command)[1:])
    expected = (corrects, None) if names_import else (None, Path("/r/options.json"))
    assert (parsed.corrects, parsed.mapping) == expected


def print_volume_table(rows: int, pages: int, code: str = "PAGES_OF_REJECTED_ROW") -> str:
    """Return what is printed for a volume with so many rejected rows and lines; each file has an error file."""
    # One command imports two files, and a correction is one.
    own = {"correctableAs": 7 if pages else None}
    output, data = io.StringIO(), replace(OUTCOMES[0], source=Path("VOL001"))
    counts = {"documents": 1, "linesSeen": 2, "imported": 1, "rejected": pages, "missingImages": 1}
    images = replace(
        data,
        file=Path("a.opt"),
        state=state(status="completed", rejected=pages, details={"pages": counts}),
        codes=CodeCounts({code: pages} if pages else {}),
        reports=Reports(Path("/r/2/rejected_rows.opt"), Path("/r/2/report.csv"), options=Path("/r/2/options.json")),
    )
    codes = CodeCounts({"MISSING_ID": rows} if rows else {})
    print_table([replace(data, state=state(rejected=rows, details=own), codes=codes), images], "c", [], output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("rows", "pages", "files", "options"),
    [
        (1, 1, ["/r/rejected_rows.dat", "/r/2/rejected_rows.opt"], "/r/options.json"),
        (1, 0, ["/r/rejected_rows.dat"], "/r/options.json"),
        (0, 1, ["/r/2/rejected_rows.opt"], "/r/2/options.json"),
    ],
)
def test_the_error_files_of_a_volume_that_have_rows_are_imported_by_one_command(
    rows: int, pages: int, files: list[str], options: str
) -> None:
    printed = print_volume_table(rows, pages)
    lines = [line.partition(", then: ")[2] for line in printed.splitlines() if ", then: " in line]
    (parsed,) = [build_parser().parse_args(shlex.split(line)[1:]) for line in lines]
    assert (parsed.files, parsed.mapping) == ([Path(file) for file in files], Path(options))
    assert ("the command above" in printed) == (len(files) == 2)


def test_pages_of_rejected_rows_need_no_correction_but_other_pages_do() -> None:
    assert "These lines need no correction: the command above imports them after the rows." in print_volume_table(1, 1)
    printed = print_volume_table(1, 1, "OPT_DOC_NOT_FOUND")
    assert "Correct these lines too, then run the command above: it imports both files." in printed


def test_the_numbers_of_pages_agree_with_their_nouns() -> None:
    line = "a.opt: images: 1 document of 2 lines, 1 new page; 1 page without its image"
    assert f"{line}; 1 line rejected\n" in print_volume_table(1, 1)
    assert f"{line}; 2 lines rejected\n" in print_volume_table(1, 2)


def test_a_load_file_whose_rows_name_files_says_that_none_is_linked() -> None:
    assert "a.dat: rows name 2 natives and 1 text: only the paths are stored." in printed_result(
        state=state(details={"storedPaths": {"natives": 2, "texts": 1}})
    )
    assert "only the paths" not in printed_result()


def test_the_next_step_for_documents_with_other_values_is_an_overlay() -> None:
    codes, words = CodeCounts({"EXISTS_WITH_OTHER_VALUES": 1, "MISSING_ID": 1}), " --mode overlay\n"

    def printed(mode: str, codes: CodeCounts = codes) -> str:
        return printed_result(codes=codes, state=state(rejected=2, details={"loadMode": {"mode": mode}}))

    assert printed("append").count(words) == 1
    command = printed("append").partition("with an overlay: ")[2].partition("\n")[0]
    parsed = build_parser().parse_args(shlex.split(command)[1:])
    assert (parsed.files, parsed.mode) == ([Path("/r/rejected_rows.dat")], "overlay")
    assert words not in printed("append_overlay") + printed("append", CodeCounts({"MISSING_ID": 1}))


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("No id. Map it to control_number with option 'columns'.", "a JSON file that --mapping names"),
        ("Set option 'encoding'.", "the option is set by --encoding."),
        ("Change option 'delimiter' or option 'time_zone'.", "the option is set by --delimiter or --time-zone."),
        ("Option 'columns' names column 'x'.", "a JSON file that --mapping names"),
    ],
)
def test_a_reason_that_names_an_option_is_followed_by_the_argument(message: str, advice: str) -> None:
    failed = state(status="failed", failure_code="BAD_OPTIONS", failure_message=message)
    assert advice in printed_result(state=failed, error=f"BAD_OPTIONS: {message}")
    assert "With this command" not in printed_result(state=state(failure_message="The file is empty."), error="x")


def test_the_terminal_shows_counts_by_code() -> None:
    output = io.StringIO()
    print_table(OUTCOMES, "c", [], output)
    assert "a.dat: rejected: 1, by code:\n" in output.getvalue()
    assert "a.dat:   MISSING_ID 1: the id's cell is blank. What to do: give the row an id.\n" in output.getvalue()


def test_a_code_that_the_command_does_not_know_is_counted() -> None:
    counts = {"MADE_LATER": 2, "UNDECODABLE_BYTES": 1}
    unknown, known = explain_codes(counts, REJECTION, of_images=True)
    assert (unknown, known.partition(".")[0]) == (
        "  MADE_LATER 2",
        "  UNDECODABLE_BYTES 1: bytes are not valid in the file's encoding",
    )


def test_the_terminal_shows_how_columns_are_read() -> None:
    output = io.StringIO()
    print_table(OUTCOMES, "c", [], output)
    mapped = "Doc ID -> control_number, Keeper -> custodians (given); 2 kept as properties"
    assert f"a.dat: columns: {mapped}\n" in output.getvalue()
    assert "a.dat: not mapped to a field: Author looks like a person. If that is wrong" in output.getvalue()
    assert "b.dat: columns" not in output.getvalue()


def test_long_lists_of_columns_are_cut() -> None:
    tags = [to_snake_names(column(f"Tag {n}", "tags", "pattern")) for n in range(22)]
    dates = [to_snake_names(column(f"{n}\nDate", None, "property", "date")) for n in range(7)]
    first, second = list_columns([*tags, *dates], Path("/r/columns.csv"))
    assert first.endswith("Tag 19 -> tags and 2 more; 7 kept as properties")
    assert "3 Date, 4 Date and 2 more look like dates." in second
    assert second.endswith("/r/columns.csv")


def test_a_column_does_not_control_the_terminal() -> None:
    (line,) = list_columns([to_snake_names(column("\x1b[2JDoc ID\x07", "control_number", "given"))], None)
    assert line.startswith("columns: \ufffd[2JDoc ID\ufffd -> control_number")


def test_names_are_printed_as_they_are() -> None:
    output = io.StringIO()
    print_table([ImportResult(Path(":x:.dat"), None, "the case is :on:[b]", 0.1)], "c", [], output)
    assert ":x:.dat: error: the case is :on:[b]\n" in output.getvalue()
