"""Back, forward and reload at every step from a file to its documents: nothing is lost silently, or imported twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, accept_dialogs, open_window
from tests.support.console.imported_cases import list_documents, list_imports
from tests.support.console.matters import build_file
from tests.support.console.wizard_steps import (
    check,
    choose,
    create_case,
    field_of,
    run,
    use_case,
    wait_until_arrived,
    wizard,
)

pytestmark = pytest.mark.slow

CASE = "Walked through"
ROWS = build_file(
    *(f"R-{each},Title {each},Ada,0{each}/04/2019" for each in range(1, 6)),
    ",No id,Ada,",
    header="Control Number,Title,Custodian,Expiry Date",
)


def go_away_and_back(page: Page) -> None:
    """Go back to the page before, which has to be whole, and forward again."""
    here = page.url
    page.go_back()
    expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
    page.go_forward()
    assert page.url == here


def change(page: Page, field: str, value: str) -> None:
    """Choose something in a panel, and wait until the server has it."""
    with page.expect_response(lambda each: each.request.method == "PUT" and each.url.endswith("/options")):
        page.get_by_label(field).select_option(value)


def test_nothing_is_lost_from_the_file_to_its_documents(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    file = tmp_path / "walked.csv"
    file.write_text(ROWS)
    with open_window(browser, console_stack.console_url) as window:
        dialogs = accept_dialogs(window.page)
        begin(window, file, dialogs)
        decide(window.page)
        dialogs.clear()
        import_id = check_and_run(window.page)
        look_at(window, import_id)
        assert dialogs == []
    assert [each["id"] for each in list_imports(console_stack, CASE)] == [import_id]
    assert len(list_documents(console_stack, CASE)) == 5


def begin(window: Window, file: Path, dialogs: list[str]) -> None:
    """The panels of the files and of the case, until the draft has its address."""
    page = window.page
    page.get_by_role("link", name="Import files").click()
    go_away_and_back(page)
    choose(page, file)
    expect(page.get_by_text("walked.csv").first).to_be_visible()
    go_away_and_back(page)
    expect(page.get_by_text("walked.csv").first).to_be_visible()
    assert dialogs == []
    page.reload()
    assert dialogs == ["beforeunload"]
    expect(page.get_by_text("nothing chosen yet")).to_be_visible()
    choose(page, file)
    create_case(page, CASE)
    page.wait_for_url(re.compile(r"/import/\d+$"))
    go_away_and_back(page)
    wait_until_arrived(page)


def decide(page: Page) -> None:
    """The panels of the reading, the columns and what the rows do: the server has each choice."""
    expect(field_of(page, 4)).to_have_value("property")
    change(page, "Field of column 4", "date_sent")
    page.reload()
    expect(field_of(page, 4)).to_have_value("date_sent")
    change(page, "Dates such as 03/04/2019", "DMY")
    go_away_and_back(page)
    expect(page.get_by_label("Dates such as 03/04/2019")).to_have_value("DMY")
    with page.expect_response(lambda each: each.request.method == "PUT" and each.url.endswith("/options")):
        page.get_by_label("Add or change documents").check()
    page.reload()
    expect(page.get_by_label("Add or change documents")).to_be_checked()
    expect(field_of(page, 4)).to_have_value("date_sent")
    expect(page.get_by_label("Dates such as 03/04/2019")).to_have_value("DMY")


def check_and_run(page: Page) -> int:
    """The check, which a reload does not stop, and the import. Returns its id."""
    with page.expect_response(re.compile(r"/imports/\d+/check$")):
        page.get_by_role("button", name="Check the file").click()
    page.reload()
    expect(page.get_by_text("5 rows would be imported and 1 row would be rejected.").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("5 rows would be imported and 1 row would be rejected.").first).to_be_visible()
    go_away_and_back(page)
    draft = page.url
    import_id = run(page, "Import 5 rows and leave 1")
    expect(page.get_by_text("1 row of the file is not in the case.").first).to_be_visible()
    go_away_and_back(page)
    page.goto(draft)
    page.wait_for_url(re.compile(r"/imports/\d+$"))
    return import_id


def look_at(window: Window, import_id: int) -> None:
    """The page of the import, the rejected rows and the documents, with an unsaved change on the way."""
    page = window.page
    window.go(f"imports/{import_id}")
    page.reload()
    page.get_by_role("link", name="Fix 1 row").click()
    page.reload()
    page.get_by_label("Control Number, line 7", exact=True).fill("R-6")
    # `go_back` would wait for the navigation, which the page holds.
    page.evaluate("history.back()")
    page.get_by_role("button", name="Stay here").click()
    expect(page.get_by_label("Control Number, line 7", exact=True)).to_have_value("R-6")
    page.evaluate("history.back()")
    page.get_by_role("button", name="Leave, and lose the changes").click()
    expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()
    page.get_by_role("definition").get_by_role("link", name="5", exact=True).click()
    expect(page.get_by_text("R-1").first).to_be_visible()
    page.reload()
    page.get_by_text("R-3").first.click()
    expect(page.get_by_role("complementary")).to_be_visible()
    page.reload()
    expect(page.get_by_role("complementary")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()


def test_the_back_button_while_a_draft_is_announced_makes_no_second_one(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    """The first answer of the server is held until the user has gone back and come again."""
    file = tmp_path / "announced.csv"
    file.write_text(ROWS)
    with wizard(browser, console_stack) as window:
        page = window.page
        create_case(page, "Announced once")
        expect(page.get_by_role("button", name="Change Case")).to_be_visible()
        window.go()
        page.get_by_role("link", name="Import files").click()
        held: list[Route] = []
        sent: list[str] = []
        page.route("**/imports", lambda route: held.append(route), times=1)
        page.on("request", lambda request: sent.append(request.method) if request.url.endswith("/imports") else None)
        choose(page, file)
        with page.expect_request("**/imports"):
            use_case(page, "Announced once")
        page.go_back()
        expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
        page.go_forward()
        expect(page.get_by_text("announced.csv").first).to_be_visible()
        held[0].continue_()
        page.wait_for_url(re.compile(r"/import/\d+$"))
        check(page)
    assert sent == ["POST"]
    assert len(list_imports(console_stack, "Announced once")) == 1
