"""The commands about one document: show it, open its files, list its history."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from exhibit_ingest.catalog import opening
from exhibit_ingest.catalog.finding import find_document
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Context
from tests.support.exhibits.stocked_stack import CASE, CELLS, NATIVE, StockedStack

pytestmark = pytest.mark.slow

Capsys = pytest.CaptureFixture[str]


def test_everything_about_a_document_is_shown(stocked: StockedStack, capsys: Capsys) -> None:
    code, printed = stocked.run(capsys, "show", "A-1")
    words = " ".join(printed.split())
    assert code == 0
    for text in (
        *("control number A-1", "document date 2019-12-31", "custodians Ada Lovelace", "tags Hot", "family A-1; A-2"),
        *("property Author Ada", f"native file N/1.eml (there, {len(NATIVE)} bytes)"),
        "pages 2, of which 1 have no file pages without a file 2",
        *("imported by import 1, line 2", "overlaid by import 1001, line 1: pages added"),
    ):
        assert text in words
    assert printed.replace("\n", "").isprintable()
    words = " ".join(stocked.run(capsys, "show", "=A-4")[1].split())
    assert "document date 2020-02-01 10:30:00 UTC" in words
    assert "text file in cells of the load file pages 0 imported" in words
    assert "changed" not in words
    assert "native file N\\3.pdf (missing)" in " ".join(stocked.run(capsys, "show", "A-3")[1].split())


def test_a_document_is_shown_to_programs_without_urls(stocked: StockedStack, capsys: Capsys) -> None:
    code, printed = stocked.run_json(capsys, "show", "A-2")
    document = printed["document"]
    assert (code, document["control_number"], document["parent_control_number"]) == (0, "A-2", "A-1")
    assert document["family"] == ["A-1", "A-2"]
    assert document["changed"] is None
    assert document["imported"]["line"] == 3
    assert [(each["kind"], each["state"]) for each in document["files"]] == [("native", "stored")]
    assert "url" not in document["files"][0]
    # Names of properties are data.
    assert stocked.run_json(capsys, "show", "A-1")[1]["document"]["properties"]["Author"] == "Ada"


def test_the_history_of_a_document_has_a_line_a_change_newest_first(stocked: StockedStack, capsys: Capsys) -> None:
    code, printed = stocked.run(capsys, "history", "A-1")
    lines = [line.strip() for line in printed.splitlines() if " by import " in line]
    assert code == 0
    assert [line.partition(" ada ")[2].split(":")[0].strip() for line in lines] == [
        "overlaid by import 1001, line 1",
        "imported by import 1, line 2",
    ]
    assert "page_set_id" in stocked.run(capsys, "history", "A-1", "--all")[1]
    code, changes = stocked.run_json(capsys, "history", "A-1")
    assert [(each["version"], each["action"]) for each in changes["history"]] == [(2, "overlaid"), (1, "imported")]
    assert changes["history"][0]["fields"]["page_set_id"]["old"] is None
    assert len(stocked.run_json(capsys, "history", "A-1", "--limit", "1")[1]["history"]) == 1
    assert "These are the last 1 changes; there are more" in stocked.run(capsys, "history", "A-1", "--limit", "1")[1]


@pytest.mark.parametrize("command", [["show"], ["history"], ["open", "--native"]], ids=lambda each: each[0])
def test_a_document_that_is_not_there_names_its_neighbours(
    stocked: StockedStack, capsys: Capsys, command: list[str]
) -> None:
    code, printed = stocked.run(capsys, command[0], "A-11", *command[1:])
    assert (code, "has no document 'A-11'" in printed, "followed by 'A-2', 'A-3'" in printed) == (2, True, True)
    code, failure = stocked.run_json(capsys, command[0], "x" * 300, *command[1:])
    assert (code, "controlNumber" in failure["error"]) == (2, True)


def open_with(stocked: StockedStack, *arguments: str) -> list[Path]:
    """What a viewer gets."""
    seen: list[Path] = []
    options = build_parser().parse_args(["open", *arguments, "--case", CASE])
    opening.check_output(options)
    with Context(own=stocked.workspace).open(options) as session:
        assert opening.open_document(session, options, seen.append) == 0
    return seen


def test_a_file_is_opened_from_a_folder_that_only_the_user_can_read(stocked: StockedStack, capsys: Capsys) -> None:
    (path,) = open_with(stocked, "A-1", "--native")
    assert (path.name, path.read_bytes()) == ("A-1-native.eml", NATIVE)
    assert path.is_relative_to(stocked.workspace.folder / "opened")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    (page,) = open_with(stocked, "A-1", "--page", "1")
    assert (page.name, page.read_bytes()[:2]) == ("A-1-page-1.tif", b"II")
    (text,) = open_with(stocked, "=A-4", "--text")
    assert (text.name, text.read_text(encoding="utf-8").split("\n")) == ("A-4-text.txt", CELLS.split("\n"))
    assert f"Opened {path}" in capsys.readouterr().out


def test_a_program_is_saved_and_never_opened(stocked: StockedStack, capsys: Capsys) -> None:
    assert open_with(stocked, "A-2", "--native") == []
    printed = capsys.readouterr().out
    assert "It is not opened: its type is not one that viewers show." in printed
    path = Path(printed.removeprefix("Saved ").split(". ")[0])
    assert (path.read_bytes(), stat.S_IMODE(os.stat(path).st_mode)) == (b"MZ", 0o600)


def test_a_file_is_saved_under_a_new_name_alone(stocked: StockedStack, capsys: Capsys, tmp_path: Path) -> None:
    file = tmp_path / "native.eml"
    code, printed = stocked.run_json(capsys, "open", "A-1", "--native", "--output", file)
    expected = {"kind": "native", "page": None, "path": str(file), "opened": False}
    assert (code, printed, file.read_bytes()) == (0, {"file": expected}, NATIVE)
    code, text = stocked.run(capsys, "open", "A-1", "--native", "--output", file)
    assert (code, "is there already" in text) == (2, True)


def test_a_file_that_arrives_changed_is_not_saved(stocked: StockedStack, tmp_path: Path) -> None:
    options = build_parser().parse_args(["open", "A-1", "--native", "--case", CASE])
    with Context(own=stocked.workspace).open(options) as session:
        document = find_document(session, CASE, "A-1")
        file = next(iterate(session.api, f"/exhibits/{document['id']}/files"))
        file["sha256"] = hashlib.sha256(NATIVE).hexdigest().upper()
        opening.save(session, document, file, tmp_path / "right.eml")
        with pytest.raises(CommandError, match=r"What arrived is not the file of N/1\.eml"):
            opening.save(session, document, {**file, "sha256": "0" * 64}, tmp_path / "wrong.eml")
    assert [each.name for each in tmp_path.iterdir()] == ["right.eml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("A-3", "--native"), "The native of A-3 is missing: its volume does not have N\\3.pdf."),
        (("A-1", "--page", "2"), "The page 2 of A-1 is missing"),
        (("A-1", "--page", "3"), "A-1 has no page 3; it has 2 pages."),
        (("A-2", "--text"), "A-2 has no text."),
    ],
)
def test_a_file_that_is_not_there_is_not_opened(
    stocked: StockedStack, capsys: Capsys, arguments: tuple[str, ...], message: str
) -> None:
    code, printed = stocked.run(capsys, "open", *arguments)
    assert (code, message in printed) == (1, True), printed
