"""Beside its rows, the page of an import shows its check, its volume, its upload, and how the file was read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec
from tests.support.console.browser import open_window
from tests.support.console.matters import build_file, load_file, load_volume, request

pytestmark = pytest.mark.slow

ROWS = build_file("C-1,One,Ada,", "C-1,Twice,Ada,", ",No id,Ada,", "C-4,Four,Ada,Hot")


def test_a_check_says_what_an_import_would_do_and_that_nothing_was_written(
    browser: Browser, console_stack: LocalStack
) -> None:
    import_id = load_file(console_stack, "Checked", ROWS, dryRun=True)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{import_id}")
        expect(page.get_by_text("2 rows of the file would be rejected.").first).to_be_visible()
        expect(page.get_by_text("Nothing was written to the case.")).to_be_visible()
        expect(page.get_by_text("2 rows would be imported as new documents.")).to_be_visible()
        found = page.locator("section[aria-labelledby=check] summary").all_inner_texts()
        assert [each.split()[0] for each in found] == sorted(each.split()[0] for each in found)
        page.get_by_text("MISSING_ID").click()
        expect(page.get_by_role("cell", name="4", exact=True)).to_be_visible()
        window.look()
        link = page.get_by_role("link", name="Go on to the import")
        assert link.get_attribute("href") == f"/console/import/{import_id}"
        assert request(console_stack, "GET", f"/imports/{import_id}")["openRejections"] == 0


def test_an_import_without_its_file_leads_to_the_upload(browser: Browser, console_stack: LocalStack) -> None:
    import_id = request(console_stack, "POST", "/imports", {"case": "Awaited", "fileName": "a.csv"})["id"]
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{import_id}")
        expect(page.get_by_text("The file has not arrived yet.")).to_be_visible()
        link = page.get_by_role("link", name="Continue the upload")
        assert link.get_attribute("href") == f"/console/import/{import_id}"


def test_rejected_rows_lead_to_the_page_that_corrects_them(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, "To fix", ROWS)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        # Other cases have rows to fix too.
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="To fix", exact=True))
        expect(row.get_by_text("2 rows to fix")).to_be_visible()
        window.go(f"imports/{import_id}")
        fix = page.get_by_role("link", name="Fix 2 rows")
        assert fix.get_attribute("href") == f"/console/imports/{import_id}/fix"
        one = page.get_by_role("link", name="Fix the rows with id occurs twice")
        assert one.get_attribute("href") == f"/console/imports/{import_id}/fix?code=DUPLICATE_ID"
        page.get_by_text("How the file was read").click()
        expect(page.get_by_text("comma ,", exact=True)).to_be_visible()
        assert window.check_accessibility() == []


def test_rows_and_images_of_a_volume_have_one_answer(browser: Browser, console_stack: LocalStack) -> None:
    rows, images = load_volume(console_stack, "Volume", VolumeSpec(families=4))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        for import_id, other in ((rows, images), (images, rows)):
            window.go(f"imports/{import_id}")
            expect(page.get_by_text("Missing or open:")).to_be_visible()
            expect(page.get_by_text("Missing or open:")).to_contain_text("1 native")
            expect(page.get_by_role("link", name=f"Import {other}")).to_be_visible()
            expect(page.get_by_role("button", name="Letter of deficiencies")).to_be_visible()
        window.look()
