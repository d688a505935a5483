"""A document that gets another file while it is looked at: no byte of the new file under the name of the old one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console import viewed_files as files
from tests.support.console.browser import Window, open_window
from tests.support.console.imported_cases import call, import_volume, list_documents

pytestmark = pytest.mark.slow

CASE = "Changed while looked at"


@pytest.fixture(scope="module")
def documents(console_stack: LocalStack) -> dict[str, dict[str, Any]]:
    volume = {
        "DATA/rows.csv": files.build_rows(("C-01", "Old", "", "", "T/old.txt"), ("C-02", "New", "", "", "T/new.txt")),
        "DATA/images.opt": files.build_opt([("C-03", "I/gone.tif")]),
        "T/old.txt": b"Line of the old text.\n" * 40_000,
        "T/new.txt": b"Line of the new text.\n" * 40_000,
    }
    import_volume(console_stack, CASE, volume)
    return list_documents(console_stack, CASE)


def open_text(window: Window, document: dict[str, Any]) -> Page:
    window.go(f"cases/{document['caseId']}/documents/{document['id']}?tab=text")
    expect(window.page.get_by_role("region", name="Text")).to_contain_text("Line of the old text.")
    return window.page


def give_other_file(stack: LocalStack, page: Page, document: dict[str, Any], other: dict[str, Any]) -> None:
    """Answer with the text of another document, as after an overlay, and end the URLs of the text until now."""
    listed = call(stack, "GET", f"/exhibits/{other['id']}/files")
    page.route(re.compile(rf"/exhibits/{document['id']}/files"), lambda route: route.fulfill(json=listed))
    page.context.route(re.compile(r"/T/old\.txt\?"), refuse)


def refuse(route: Route) -> None:
    route.fulfill(status=403, headers={"Access-Control-Allow-Origin": "*"})


def test_a_text_does_not_go_on_with_another_file(
    browser: Browser, console_stack: LocalStack, documents: dict[str, dict[str, Any]]
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = open_text(window, documents["C-01"])
        give_other_file(console_stack, page, documents["C-01"], documents["C-02"])
        page.get_by_role("button", name="Show more of the text").click()
        expect(page.get_by_role("alert")).to_contain_text("The file was changed")
        text = page.get_by_role("region", name="Text")
        expect(text).not_to_contain_text("new text")
        expect(page.get_by_text("T/old.txt")).to_be_visible()
        window.look()
        page.get_by_role("button", name="Show the file as it is now").click()
        expect(text).to_contain_text("Line of the new text.")
        expect(text).not_to_contain_text("old text")
        expect(page.get_by_text("T/new.txt")).to_be_visible()
        assert all("403" in fault for fault in window.faults)
        window.faults.clear()


def test_another_version_has_its_own_files(
    browser: Browser, console_stack: LocalStack, documents: dict[str, dict[str, Any]]
) -> None:
    document = documents["C-01"]
    with open_window(browser, console_stack.console_url) as window:
        page = open_text(window, document)
        give_other_file(console_stack, page, document, documents["C-02"])
        changed = {**call(console_stack, "GET", f"/exhibits/{document['id']}"), "version": document["version"] + 1}
        page.route(re.compile(rf"/exhibits/{document['id']}$"), lambda route: route.fulfill(json=changed))
        # The window is left and returned to.
        page.evaluate("dispatchEvent(new Event('visibilitychange'))")
        text = page.get_by_role("region", name="Text")
        expect(text).to_contain_text("Line of the new text.")
        expect(text).not_to_contain_text("old text")
        expect(page.get_by_text("T/new.txt")).to_be_visible()
