"""The Fix page: rejected rows are corrected, imported again or left out, until nothing is open in the import."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, become_viewer, open_window
from tests.support.console.imported_cases import (
    call,
    count_open,
    import_file,
    import_volume,
    list_documents,
    list_imports,
)
from tests.support.imports.image_load_files import opt

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="alert(1)">\u202egnp'
HEADER = "Control Number,Title,Custodian,Document Date\r\n"
# Lines 3 to 9 are rejected; two have a byte in the custodian that is not UTF-8, one is a second row of A-1.
ROWS = (
    f"A-1,One,Ada,2019-12-31\r\n,{HOSTILE},Ada,2019-12-31\r\n"
    "A-4,Lee, Ann,Ada,2019-12-30\r\nA-5,five,M\udcfcller,31.12.2019\r\nA-6,six,M\udcfcller,2019-01-02\r\n"
    'A-1,Again,Bob,2019-12-31\r\nA-8,said "yes", then,"2019-01-02\r\n'
)
FILE = b"\xef\xbb\xbf" + (HEADER + ROWS).encode("utf-8", "surrogateescape")


def open_fix(window: Window, import_id: int, query: str = "") -> Page:
    """Open the page of an import, and wait until its first rows are there."""
    window.go(f"imports/{import_id}/fix{query}")
    expect(window.page.get_by_role("region", name="Rejected rows")).to_be_visible()
    return window.page


def row(page: Page, line: int) -> Locator:
    """The row of a line."""
    return page.locator(f"tr[data-line='{line}']")


def cell(page: Page, line: int, column: str = "Control Number") -> Locator:
    """The cell of a column and a line."""
    return page.get_by_label(f"{column}, line {line}", exact=True)


def load(page: Page, button: str, result: str) -> None:
    """Import the corrected rows, and wait for the sentence about them."""
    page.get_by_role("button", name=button).click()
    expect(page.locator(".loads")).to_contain_text(result)


def missing_ids(rows: int) -> bytes:
    """A load file whose rows have no id, but for the first one."""
    lines = "".join(f",title {line},Ada,2019-12-31\r\n" for line in range(3, 3 + rows))
    return f"{HEADER}A-1,One,Ada,2019-12-31\r\n{lines}".encode()


def test_a_load_file_is_fixed_in_place_until_nothing_is_open(browser: Browser, console_stack: LocalStack) -> None:
    import_id = import_file(console_stack, "Fixed", FILE)
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, import_id)
        expect(page.get_by_text("6 rows of 7 are not in the case.")).to_be_visible()
        # The first fault has the focus, Enter goes on to the next one, and Ctrl+Z takes an edit back.
        expect(cell(page, 3)).to_be_focused()
        page.keyboard.type("A-3")
        page.keyboard.press("Control+z")
        expect(cell(page, 3)).to_have_value("")
        page.keyboard.type("A-3")
        page.keyboard.press("Enter")
        arrange_shifted_cells(page)
        # The suggestion is what Windows means by the byte.
        cell(page, 5, "Custodian").press("Control+Space")
        expect(cell(page, 5, "Custodian")).to_have_value("Müller")
        page.get_by_role("button", name="Apply to the other cell").click()
        expect(cell(page, 6, "Custodian")).to_have_value("Müller")
        row(page, 7).get_by_label("leave out").check()
        window.look()
        page.keyboard.press("Control+Enter")
        expect(page.locator(".loads")).to_contain_text("4 of 4 imported by import")
        leave_out(page)
        use_divided_cells(page)
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
        window.look()
    check_case(console_stack, import_id)


def arrange_shifted_cells(page: Page) -> None:
    """Merge the cells of line 4, which a comma has divided."""
    page.keyboard.press("Enter")
    expect(row(page, 4)).to_contain_text("5 cells, 4 columns: 1 too many.")
    page.get_by_label("Cell 2 of line 4, Title").click()
    page.get_by_role("button", name="Merge cell 2 with 3").click()
    expect(row(page, 4)).to_contain_text("4 cells, 4 columns: the row fits.")


def leave_out(page: Page) -> None:
    """Confirm that one row is left out."""
    page.get_by_role("button", name="Leave 1 row out").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave 1 row out").click()
    expect(page.get_by_text("1 row left out for good.")).to_be_visible()


def use_divided_cells(page: Page) -> None:
    """Arrange line 8, which the page has divided itself, and load it."""
    page.get_by_role("button", name="Arrange the 4 cells of line 8").click()
    expect(page.get_by_label("Cell 2 of line 8, Title")).to_have_value('said "yes"')
    page.get_by_label("Cell 3 of line 8, Custodian").fill("Ada")
    load(page, "Import 1 corrected row", "1 of 1 imported")


def check_case(stack: LocalStack, import_id: int) -> None:
    """The case has each row once, with the texts as they were entered, and a name for who left one out."""
    assert count_open(stack, import_id) == 0
    documents = list_documents(stack, "Fixed")
    titles = {number: document["title"] for number, document in documents.items()}
    expected = {"A-3": HOSTILE, "A-4": "Lee, Ann", "A-5": "five", "A-6": "six", "A-8": 'said "yes"'}
    assert titles == {"A-1": "One", **expected}
    assert {documents[number]["custodians"][0] for number in ("A-5", "A-6")} == {"Müller"}
    assert documents["A-5"]["documentDate"] == "2019-12-31T00:00:00"
    left = call(stack, "GET", f"/imports/{import_id}/rejected-rows?code=DUPLICATE_ID")["items"]
    assert [(each["line"], each["discardedBy"]) for each in left] == [(7, "me")]


def test_a_row_that_is_rejected_again_comes_back_with_its_new_reason(
    browser: Browser, console_stack: LocalStack
) -> None:
    import_id = import_file(console_stack, "Again", missing_ids(1))
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, import_id, "?code=MISSING_ID")
        cell(page, 3).fill("A-1")
        load(page, "Import 1 corrected row", "0 of 1 imported")
        expect(row(page, 3)).to_contain_text("in the case with other values")
        expect(cell(page, 3)).to_have_value("A-1")
        page.get_by_role("button", name="Compare with the case").click()
        expect(page.get_by_role("dialog").get_by_role("row", name="Title")).to_contain_text("title 3One")
        window.look()
        page.get_by_role("button", name="Close").click()
        # After a reload the newest reason is there, too.
        page.reload()
        expect(row(page, 3)).to_contain_text("rejected again by import")
        cell(page, 3).fill("A-3")
        load(page, "Import 1 corrected row", "1 of 1 imported")
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
    assert set(list_documents(console_stack, "Again")) == {"A-1", "A-3"}


def test_a_line_that_another_window_has_corrected_is_named_beside_its_row(
    browser: Browser, console_stack: LocalStack
) -> None:
    import_id = import_file(console_stack, "Conflict", missing_ids(2))
    url = console_stack.console_url
    with open_window(browser, url) as mine, open_window(browser, url) as other:
        page = open_fix(mine, import_id)
        cell(open_fix(other, import_id), 3).fill("B-3")
        load(other.page, "Import 1 corrected row", "1 of 1 imported")
        for line in (3, 4):
            cell(page, line).fill(f"C-{line}")
        page.get_by_role("button", name="Import 2 corrected rows").click()
        expect(row(page, 3).get_by_role("alert")).to_contain_text("Line 3 is corrected by import")
        assert mine.check_accessibility() == []
        load(page, "Import 1 corrected row", "1 of 1 imported")
        page.get_by_role("button", name="Drop my change of this line").click()
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
        assert [fault for fault in mine.faults if "422" not in fault] == []
        mine.faults.clear()
    assert set(list_documents(console_stack, "Conflict")) == {"A-1", "B-3", "C-4"}


def test_changes_that_are_not_imported_hold_the_page(browser: Browser, console_stack: LocalStack) -> None:
    import_id = import_file(console_stack, "Guard", missing_ids(1))
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, import_id)
        cell(page, 3).fill("A-3")
        page.get_by_role("link", name=f"Import {import_id}").click()
        page.get_by_role("button", name="Stay here").click()
        expect(cell(page, 3)).to_have_value("A-3")
        assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").find("A-3") == -1
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("dialog")).to_contain_text("corrections that are not imported")
        window.look()
        page.get_by_role("button", name="Stay signed in").click()
        expect(cell(page, 3)).to_have_value("A-3")
        page.get_by_role("link", name=f"Import {import_id}").click()
        page.get_by_role("button", name="Leave, and lose the changes").click()
        expect(page.get_by_role("heading", name=f"Import {import_id}", exact=True)).to_be_visible()
        cell(open_fix(window, import_id), 3).fill("A-3")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("button", name="Sign out, and lose it").click()
        expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
        assert "A-3" not in page.inner_text("body")
        window.look()
    assert count_open(console_stack, import_id) == 1


def test_a_row_of_a_volume_gets_its_files_and_its_pages(browser: Browser, console_stack: LocalStack) -> None:
    files = {
        "DATA/load.csv": b"Control Number,Title,Native Path\r\nA-1,One,N\\1.txt\r\n,Two,N\\2.txt\r\n",
        "DATA/load.opt": opt(("A-1", 1), ("A-2", 2), ("A-9", 1)),
        **{f"DATA/N/{number}.txt": b"native" for number in (1, 2)},
        **{f"DATA/IMAGES/{name}.tif": b"image" for name in ("A-1.0", "A-2.0", "A-2.1", "A-9.0")},
    }
    rows, images = import_volume(console_stack, "Volume", files)
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, images)
        expect(page.get_by_text("follow by themselves").first).to_be_visible()
        expect(row(page, 4)).to_contain_text("A-9")
        page = open_fix(window, rows)
        cell(page, 3).fill("A-2")
        load(page, "Import 1 corrected row", "1 of 1 imported")
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
        console_stack.wait_until_idle()
        # The pages have followed; the document that the data file lacks is left out.
        page = open_fix(window, images)
        expect(page.get_by_text("1 document of 3 is not in the case.")).to_be_visible()
        row(page, 4).get_by_label("leave out").check()
        leave_out(page)
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
        assert window.check_accessibility() == []
    document = list_documents(console_stack, "Volume")["A-2"]
    assert document["pageCount"] == 2
    linked = call(console_stack, "GET", f"/exhibits/{document['id']}/files")["items"]
    assert [each["path"] for each in linked if each["kind"] == "native"] == ["DATA/N/2.txt"]
    assert (count_open(console_stack, rows), count_open(console_stack, images)) == (0, 0)


def test_an_overlay_replaces_the_version_that_was_seen(browser: Browser, console_stack: LocalStack) -> None:
    def title(text: str) -> bytes:
        return f"Control Number,Title\r\nA-1,{text}\r\n".encode()

    import_file(console_stack, "Overlay", title("one"), "base")
    overlay = import_file(console_stack, "Overlay", b"Control Number,Title\r\n,mine\r\n", "mine", mode="overlay")
    import_file(console_stack, "Overlay", title("newer"), "newer", mode="overlay")
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, overlay)
        cell(page, 2).fill("A-1")
        load(page, "Import 1 corrected row", "0 of 1 imported")
        expect(row(page, 2)).to_contain_text("document changed since")
        page.get_by_role("button", name="Compare with the case").click()
        page.get_by_role("button", name=re.compile("Import this row over version")).click()
        load(page, "Import 1 corrected row", "1 of 1 imported")
        expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
    assert list_documents(console_stack, "Overlay")["A-1"]["title"] == "mine"


def test_what_is_read_and_not_corrected(browser: Browser, console_stack: LocalStack) -> None:
    import_id = import_file(console_stack, "Read only", FILE)
    with open_window(browser, console_stack.console_url, color_scheme="dark") as window:
        page = open_fix(window, import_id)
        row(page, 4).get_by_role("button", name="Arrange").click()
        page.get_by_label("all 4 columns").check()
        cell(page, 5, "Custodian").fill("x")
        assert window.check_accessibility() == []
        page.set_viewport_size({"width": 390, "height": 800})
        expect(page.get_by_text("too narrow")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert window.check_accessibility() == []
        page.set_viewport_size({"width": 1280, "height": 720})
        expect(cell(page, 5, "Custodian")).to_have_value("x")
        page.keyboard.press("Control+z")
        become_viewer(page)
        page = open_fix(window, import_id)
        expect(page.get_by_text("You have the role viewer")).to_be_visible()
        expect(page.locator("textarea")).to_have_count(0)
        window.look()


def test_many_rows_are_read_page_by_page(browser: Browser, console_stack: LocalStack) -> None:
    import_id = import_file(console_stack, "Many", missing_ids(1_001))
    with open_window(browser, console_stack.console_url) as window:
        page = open_fix(window, import_id)
        expect(page.get_by_text("1,001 rows are open")).to_be_visible()
        cell(page, 3).fill("A-3")
        page.get_by_role("button", name="Next rows").click()
        cell(page, 203).fill("A-203")
        expect(page.get_by_text("1 of your changes are on other pages")).to_be_visible()
        load(page, "Import 2 corrected rows", "2 of 2 imported")
        expect(page.get_by_text("999 rows of 1,002 are not in the case.")).to_be_visible()
        page.get_by_role("button", name="Previous rows").click()
        expect(row(page, 4)).to_be_visible()
        expect(row(page, 3)).to_have_count(0)
    assert len(list_imports(console_stack, "Many")) == 2
