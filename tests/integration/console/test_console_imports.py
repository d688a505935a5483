"""The page of an import says what is missing in its first line, and shows the rejected rows by their reason."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import open_window

pytestmark = pytest.mark.slow

HOSTILE = "<b onmouseover=alert(1)>\u202egnp"
ROWS = f"Control Number,Title,Custodian\nA-1,{HOSTILE},Ada\n,No id,Ada\nA-3,Twice,Ada\nA-3,{HOSTILE},Ada\n"


@pytest.fixture(scope="module")
def imported(console_stack: LocalStack) -> int:
    """The id of an import of four rows, of which two are rejected."""
    key = "imports/local/Smith v. Jones/first/rows.csv"
    console_stack.s3.put_object(Bucket=console_stack.bucket, Key=key, Body=ROWS.encode())
    console_stack.wait_until_idle()
    status, body = console_stack.request_api("local", "me", "GET", "/imports?case=Smith%20v.%20Jones")
    found = re.search(rb'"id":(\d+)', body)
    assert status == 200
    assert found is not None
    return int(found[1])


def test_an_import_answers_what_is_missing_and_shows_the_rows(
    browser: Browser, console_stack: LocalStack, imported: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("link", name="Smith v. Jones").click()
        page.get_by_role("link", name=f"Import {imported}", exact=True).click()
        expect(page.get_by_text("2 rows of the file are not in the case.")).to_be_visible()
        page.get_by_text("id occurs twice", exact=True).click()
        expect(page.get_by_role("cell", name="Keep one of the two rows")).to_be_visible()
        window.look()
        page.go_back()
        expect(page.get_by_role("heading", name="Smith v. Jones")).to_be_visible()
        expect(page.get_by_role("link", name=f"Import {imported}", exact=True)).to_be_visible()
        window.look()
        window.go(f"imports/{imported}")
        page.reload()
        expect(page.get_by_text("completed with rejections")).to_be_visible()


def test_an_import_into_a_case_begins_on_its_page(browser: Browser, console_stack: LocalStack, imported: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("link", name="Smith v. Jones").click()
        page.get_by_role("link", name=f"Import {imported}", exact=True).wait_for()
        page.get_by_role("link", name="Import files").click()
        expect(page.get_by_role("button", name="Change Case")).to_be_visible()
        expect(page.get_by_text("Smith v. Jones")).to_be_visible()
        expect(page.get_by_text("Choose files first.")).to_be_visible()
        assert window.check_accessibility() == []


def test_a_report_is_downloaded_under_its_name(browser: Browser, console_stack: LocalStack, imported: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        window.go(f"imports/{imported}")
        with window.page.expect_download() as download:
            window.page.get_by_role("button", name="Reasons of the rejected rows").click()
        assert download.value.suggested_filename.startswith("Smith v. Jones - import")


def test_a_page_of_another_tenant_is_not_found(browser: Browser, console_stack: LocalStack, imported: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("button", name="Change user").click()
        page.get_by_label("Tenant").fill("other")
        page.context.set_offline(True)
        page.get_by_role("dialog").get_by_role("button", name="Change user").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("The server does not answer")
        page.context.set_offline(False)
        page.get_by_role("dialog").get_by_role("button", name="Change user").click()
        expect(page.get_by_text("There are no cases yet")).to_be_visible()
        window.look()
        window.go(f"imports/{imported}")
        expect(page.get_by_role("alert")).to_contain_text("Check the address")
        window.look()
        assert "Smith" not in page.inner_text("body")
        assert [fault for fault in window.faults if "404" not in fault and "DISCONNECTED" not in fault] == []
        window.faults.clear()
