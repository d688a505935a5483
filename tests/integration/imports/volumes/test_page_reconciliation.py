"""Pages are compared with what the data file states: in a check and an import, after retries, by several workers."""

from __future__ import annotations

import re

import pytest

import start_import
import write_import_report
from core.contracts.imports.undos import UndoRequest
from core.errors import ImportNotRunningError
from shell.db.session import session
from shell.imports.commands import retry_import
from shell.imports.completing.completion import complete_import
from shell.imports.pages import reconciliation
from shell.imports.queries import get_import
from shell.imports.undo.commands import undo_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World, call, complete_imports, request_messages
from tests.support.volumes.paired_imports import DAT_PATH, OPT_PATH, announce, finish
from tests.support.volumes.stored_files import pdf

HEADER = b"BEGDOC,ENDDOC,PAGECOUNT\r\n"
# Page 2 of the first document is not listed; the second has the page of the third; the last says 2, and is one line.
DATA = HEADER + b"PG001,PG003,3\r\nPG004,PG005,2\r\nPG006,PG006,1\r\nPG007,PG008,2\r\nPG009,PG010,3\r\n"
IMAGES = (
    b"PG001,V,IMAGES\\1.tif,Y,,,\r\nPG003,V,IMAGES\\3.tif,,,,\r\n"
    b"PG004,V,IMAGES\\4.tif,Y,,,\r\nPG005,V,IMAGES\\5.tif,,,,\r\nPG006,V,IMAGES\\6.tif,,,,\r\n"
    b"PG007,V,IMAGES\\7.tif,Y,,,2\r\nPG009,V,IMAGES\\9.tif,Y,,,\r\nPG010,V,IMAGES\\10.tif,,,,\r\n"
)
# As a spreadsheet keeps ids from being read as numbers.
FORMULAS = HEADER + re.sub(rb"\w+", rb'"=""\g<0>"""', DATA.removeprefix(HEADER))
EXPECTED = [
    (1, "PAGES_MISSING", "PG001"),
    (5, "PAGE_OF_OTHER_DOCUMENT", "PG004"),
    (7, "PAGE_COUNT_DIFFERS", "PG009"),
]
CODES = "('PAGES_MISSING', 'PAGE_OF_OTHER_DOCUMENT', 'PAGE_KEY_GAP', 'PAGE_COUNT_DIFFERS')"


def found(world: World, import_id: int, table: str = "import_warnings") -> list[tuple[object, ...]]:
    """Line, code and document of each finding about pages."""
    query = (
        f"SELECT line_no, code, control_number FROM {table} WHERE import_id = :i AND code IN {CODES} ORDER BY 1, seq"
    )
    return [tuple(row) for row in world.query(query, i=import_id)]


def reconciled(import_id: int) -> tuple[bool, int, list[tuple[int, int]], int]:
    """Whether it is current, the generation, what was compared, and the number of findings, as the API says it."""
    state = get_import(CALLER, import_id).reconciliation
    assert state is not None
    compared = [(each.import_id, each.generation) for each in state.compared]
    return state.is_current, state.generation, compared, state.findings


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("data", [DATA, FORMULAS])
def test_check_and_import_find_the_same(world: World, data: bytes, check: bool) -> None:
    rows, images = announce(world, {DAT_PATH: data, OPT_PATH: IMAGES}, check=check)
    finish(world, rows, shuffled=1)
    assert found(world, images, "import_check_findings" if check else "import_warnings") == EXPECTED
    assert reconciled(images) == (True, 1, [(rows, 1)], 3)
    assert get_import(CALLER, rows).reconciliation is None


def test_documents_that_the_case_has_already_are_compared_too(world: World) -> None:
    for _ in range(2):
        rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
        finish(world, rows)
        assert found(world, images) == EXPECTED


def test_differences_at_the_borders_of_chunks_are_found(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(3)
    numbers = range(1, 60, 3)
    data = HEADER + b"".join(b"P%03d,P%03d,3\r\n" % (number, number + 2) for number in numbers)
    lines = [
        b"P%03d,V,I\\%d.tif,%s,,,\r\n" % (number + page, number + page, b"" if page else b"Y")
        for number in numbers
        for page in range(3)
        if page != 1 or number % 9 != 1
    ]
    rows, images = announce(world, {DAT_PATH: data, OPT_PATH: b"".join(lines)})
    finish(world, rows, shuffled=2)
    assert [document for _, _, document in found(world, images)] == [
        f"P{number:03d}" for number in numbers if number % 9 == 1
    ]


def test_a_pdf_without_a_page_count_is_opened(world: World) -> None:
    data = HEADER + b"A1,A5,5\r\nA6,A9,4\r\n"
    images = b"A1,V,IMAGES\\1.pdf,Y,,,\r\nA6,V,IMAGES\\2.pdf,Y,,,\r\n"
    files = {DAT_PATH: data, OPT_PATH: images, "IMAGES/1.pdf": pdf(5), "IMAGES/2.pdf": pdf(3)}
    rows, import_id = announce(world, files)
    finish(world, rows)
    assert found(world, import_id) == [(2, "PAGE_COUNT_DIFFERS", "A6")]
    [(message,)] = world.query("SELECT message FROM import_warnings WHERE code = 'PAGE_COUNT_DIFFERS'")
    assert "a page count of 4 and A6 to A9 (4 pages)" in message
    assert "the image files have 3" in message


def test_a_retry_of_the_data_file_compares_again(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    assert call(start_import.lambda_handler, {"import_id": rows, "generation": 1})
    first, *others = world.chunk_messages()
    world.give_up(first)
    for message in others:
        assert world.import_chunk(message)
    complete_imports()
    finish_images(world)
    assert (1, "PAGES_MISSING", "PG001") not in found(world, images)
    assert reconciled(images)[:3] == (True, 1, [(rows, 1)])
    with session() as transaction:
        retry_import(transaction, CALLER, rows)
    assert reconciled(images)[0] is False
    finish_images(world)
    assert get_import(CALLER, images).status == "completed_with_rejections"
    assert found(world, images) == EXPECTED
    assert reconciled(images) == (True, 2, [(rows, 2)], 3)
    warnings = world.query("SELECT warnings FROM imports WHERE id = :i", i=images)
    assert warnings == world.query("SELECT COUNT(*) FROM import_warnings WHERE import_id = :i", i=images)


def finish_images(world: World) -> None:
    """Work on all messages until there are none."""
    while messages := request_messages():
        for message in messages:
            assert call(start_import.lambda_handler, message)
        for chunk in world.chunk_messages():
            assert world.import_chunk(chunk)
        complete_imports()
    complete_imports()


def test_repeated_windows_leave_nothing_twice_and_nothing_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciliation, "WARNINGS_PER_WINDOW", 1)
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    world.query("UPDATE imports SET status = 'running' WHERE id = :i", i=images)
    # A worker that was killed after its first window, and findings that are none any more.
    world.query("DELETE FROM import_warnings WHERE code = 'PAGES_MISSING'")
    world.query(
        "INSERT INTO import_warnings (import_id, line_no, seq, chunk_no, code, message) "
        "VALUES (:i, 2, 700000, 0, 'PAGE_KEY_GAP', 'of an earlier attempt')",
        i=images,
    )
    complete_import(images, 1)
    assert found(world, images) == EXPECTED


def test_a_worker_that_another_one_has_overtaken_writes_nothing(world: World) -> None:
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    world.query("UPDATE imports SET status = 'running' WHERE id = :i", i=images)
    late = reconciliation._begin(images, 1)
    following = reconciliation._begin(images, 1)
    with pytest.raises(ImportNotRunningError):
        reconciliation._delete_window(images, 1, late, -1)
    with pytest.raises(ImportNotRunningError), session() as transaction:
        reconciliation.Reconciled(images, 1, late, [], 0).store(transaction)
    assert found(world, images) == EXPECTED
    # The control: the last attempt may.
    assert reconciliation._delete_window(images, 1, following, -1) == 7
    assert found(world, images) == []


def test_the_findings_of_an_import_that_has_ended_stay(world: World) -> None:
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    with pytest.raises(ImportNotRunningError):
        reconciliation._begin(images, 1)
    complete_import(images, 1)
    assert found(world, images) == EXPECTED


def read_list(world: World, import_id: int, name: str, *, check: bool) -> list[str]:
    """The lines of a file for the producing party."""
    if check:
        event = {"eventType": "import.checked", "importId": import_id, "generation": 1}
        assert call(write_import_report.lambda_handler, event)
    return world.report(import_id)[name].decode("utf-8-sig").splitlines()


@pytest.mark.parametrize("check", [False, True])
def test_the_producing_party_gets_a_list_of_both_load_files(world: World, check: bool) -> None:
    data = b"BEGDOC,ENDDOC,PAGECOUNT,Date\r\nPG001,PG003,3,31/31/2020\r\nPG004,PG004,1,\r\n"
    rows, images = announce(world, {DAT_PATH: data, OPT_PATH: IMAGES.split(b"PG004")[0]}, check=check)
    finish(world, rows)
    text = read_list(world, images, "deficiencies.txt", check=check)
    assert text[0] == "Deficiencies of DATA/images.opt"
    assert [line for line in text if line.endswith(":")] == [
        "Send the pages that are missing, or cannot be opened (3):",
        "Send images of these documents, or confirm that there are none (1):",
        "Correct or confirm these values (1):",
    ]
    table = read_list(world, images, "deficiencies.csv", check=check)
    assert table[0] == "request,document,load_file,line,column,value,detail"
    missing = (
        '"The data file states PG001 to PG003 (3 pages, line 2 of the data file), and the image load file has 2 pages. '
        'Missing: PG002 (1 page)."'
    )
    assert f'"Send the pages that are missing, or cannot be opened",PG001,DATA/images.opt,1,,,{missing}' in table
    assert len(table) == 6
    details = get_import(CALLER, images)
    urls = details.check if check else details.reports
    assert urls is not None
    assert urls.deficiencies is not None
    assert "deficiencies.txt" in str(urls.deficiencies_text)


def test_an_undo_of_either_side_makes_it_stale(world: World) -> None:
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    for import_id in (images, rows):
        with session() as transaction:
            undo_import(transaction, CALLER, import_id, UndoRequest())
        assert reconciled(images)[0] is False
        finish_images(world)
        assert get_import(CALLER, import_id).status == "undone"
        assert reconciled(images)[0] is False
    # Imported again, they are compared again, by imports of their own.
    rows, images = announce(world, {DAT_PATH: DATA, OPT_PATH: IMAGES})
    finish(world, rows)
    assert found(world, images) == EXPECTED
    assert reconciled(images)[0] is True
