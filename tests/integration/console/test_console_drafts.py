"""A draft leads from the list of its case to the page that goes on with it, also after its window was closed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.matters import build_file, find_case, load_file, request
from tests.support.console.wizard_steps import check, choose, create_case, run, wait_until_arrived, wizard

pytestmark = pytest.mark.slow

ROWS = build_file("D-1,One,Ada,", "D-2,Two,Ada,")


def become_viewer(page: Page) -> None:
    """Look at the pages with the role viewer from now on."""
    page.get_by_role("button", name="Change user").click()
    page.get_by_label("Role").select_option("viewer")
    page.get_by_role("dialog").get_by_role("button", name="Change user").click()
    expect(page.get_by_text("me · viewer")).to_be_visible()


def test_the_list_of_a_case_leads_to_each_kind_of_draft(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    case = "Has drafts"
    awaited = request(console_stack, "POST", "/imports", {"case": case, "fileName": "awaited.csv", "hold": True})["id"]
    held = load_file(console_stack, case, ROWS, "held.csv", hold=True)
    checked = load_file(console_stack, case, ROWS, "checked.csv", dryRun=True)
    volume = request(console_stack, "POST", "/volumes", {"case": case, "name": "Unfinished"})["id"]
    page_of_case = f"cases/{find_case(console_stack, case)}/imports"
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(page_of_case)
        page.get_by_role("link", name=f"Draft {awaited}").click()
        expect(page.get_by_text("Choose awaited.csv again to go on.")).to_be_visible()
        page.go_back()
        page.get_by_role("link", name=f"Draft {held}").click()
        expect(page.get_by_role("button", name="Check the file")).to_be_enabled()
        page.go_back()
        page.get_by_role("row", name="checked.csv").get_by_role("link", name="Go on").click()
        expect(page.get_by_role("button", name="Import 2 rows")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("link", name=f"Check {checked}")).to_be_visible()
        window.look()
        page.get_by_role("link", name="Go on with it").click()
        expect(page.get_by_text("Choose Unfinished again to go on.")).to_be_visible()
        assert page.url.endswith(f"/import/volume/{volume}")
        become_viewer(page)
        window.go(page_of_case)
        page.get_by_role("link", name=f"Draft {held}").click()
        expect(page.get_by_text("Changing it requires the role editor")).to_be_visible()
        assert page.url.endswith(f"/imports/{held}")


def test_an_upload_that_a_program_has_announced_can_be_continued(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    """Without `hold` the import runs when its file arrives, and the page follows it."""
    body = {"case": "Announced by a program", "fileName": "late.csv"}
    import_id = request(console_stack, "POST", "/imports", body)["id"]
    file = tmp_path / "late.csv"
    file.write_text(ROWS)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{import_id}")
        page.get_by_role("link", name="Continue the upload").click()
        choose(page, file)
        page.wait_for_url(re.compile(rf"/imports/{import_id}$"))
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()


def test_a_file_that_could_not_be_read_is_read_in_another_way(browser: Browser, console_stack: LocalStack) -> None:
    rows = build_file("One,Ada", header="Thing,Custodian")
    import_id = load_file(console_stack, "Read otherwise", rows, "nameless.csv")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{import_id}")
        expect(page.get_by_text("The file could not be read. Nothing of it is in the case.")).to_be_visible()
        message = page.get_by_role("alert").inner_text()
        assert "say under “Names of the columns” that they are not in the file" in message
        assert not re.search(r"[{}]|option|control_number", message)
        window.look()
        page.get_by_role("link", name="Change how the file is read").click()
        expect(page.get_by_text("No column is recognised as the control number")).to_be_visible()
        window.look()
        page.get_by_label("Control numbers are in").select_option("1: Thing")
        expect(page.get_by_text("your choice")).to_be_visible()
        check(page)
        run(page, "Import 1 row")
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()
        # The browser notes the refused preview.
        assert [fault for fault in window.faults if "422" not in fault] == []
        window.faults.clear()


def test_a_check_that_was_stopped_goes_on(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "stopped.csv"
    file.write_text(ROWS)
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, file)
        create_case(page, "Stopped check")
        page.wait_for_url(re.compile(r"/import/\d+$"))
        wait_until_arrived(page)
        import_id = page.url.rpartition("/")[2]
        console_stack.wait_until_idle()
        request(console_stack, "POST", f"/imports/{import_id}/cancel")
        page.reload()
        expect(page.get_by_text("This draft was stopped. Nothing of it is in the case.")).to_be_visible()
        assert window.check_accessibility() == []
        page.get_by_role("button", name="Go on with it").click()
        check(page)
        run(page, "Import 2 rows")
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()
