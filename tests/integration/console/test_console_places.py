"""Every page names its window, and an address that names a thing shows that thing, or says where it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, open_window
from tests.support.console.document_steps import export_past_the_page, line_of
from tests.support.console.matters import build_file, find_case, load_file, request

pytestmark = pytest.mark.slow

CASE, OTHER = "Placed case", "Elsewhere"
# More than the page of the documents lists.
EXPORTS = 21


@pytest.fixture(scope="module")
def places(console_stack: LocalStack) -> dict[str, int]:
    """The ids of two cases, of an import and of a document of the first one."""
    load_file(console_stack, OTHER, build_file("E-1,One,Ada,"))
    import_id = load_file(console_stack, CASE, build_file("P-1,One,Ada,", "P-2,Two,Ada,", ",No id,Ada,"))
    case = find_case(console_stack, CASE)
    document = request(console_stack, "GET", f"/exhibits?caseId={case}&limit=1")["items"][0]["id"]
    request(console_stack, "PUT", "/devices/300", {"label": "Laptop"})
    other = find_case(console_stack, OTHER)
    return {"case": case, "other": other, "import": import_id, "document": document}


def test_each_page_names_its_window(browser: Browser, console_stack: LocalStack, places: dict[str, int]) -> None:
    with open_window(browser, console_stack.console_url) as window:
        for place, title in [
            ("", "Cases"),
            ("cases/{case}/documents", f"Documents · {CASE}"),
            ("cases/{case}/documents/{document}", f"P-1 · {CASE}"),
            ("cases/{case}/imports", f"Imports · {CASE}"),
            ("cases/{case}/productions", f"Productions · {CASE}"),
            ("cases/{case}/productions/new", f"New production · {CASE}"),
            ("cases/{case}/activity", f"Activity · {CASE}"),
            ("imports/{import}", f"Import {places['import']} · {CASE}"),
            ("imports/{import}/fix", f"Fix import {places['import']} · {CASE}"),
            ("import", "Import files"),
            ("custody", "Custody"),
            ("custody/300", "Device 300 · Laptop"),
            ("activity", "Activity"),
            ("operations", "Operations"),
            ("nowhere", "This page does not exist"),
        ]:
            window.go(place.format_map(places))
            expect(window.page).to_have_title(f"{title} · exhibit-ingest")


def test_the_viewer_shows_a_document_in_its_own_case_alone(
    browser: Browser, console_stack: LocalStack, places: dict[str, int]
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go("cases/{other}/documents/{document}".format_map(places))
        expect(page.get_by_text("This document is in another case")).to_be_visible()
        expect(page.get_by_role("navigation", name="What is shown")).to_have_count(0)
        page.keyboard.press("j")
        window.look()
        page.get_by_role("link", name="Open it there").click()
        expect(page.get_by_role("navigation", name="What is shown")).to_be_visible()
        assert page.url.endswith("cases/{case}/documents/{document}".format_map(places))


def turn_keys(window: Window, *, on: bool) -> None:
    """Turn the keys of one letter on or off in the window."""
    window.page.keyboard.press("?")
    switch = window.page.get_by_role("checkbox", name="Keys of one letter are on")
    switch.set_checked(on)
    expect(switch).to_be_checked(checked=on)
    window.page.keyboard.press("Escape")
    expect(window.page.get_by_role("dialog")).to_have_count(0)


def test_letters_that_are_turned_off_do_nothing_in_the_viewer(
    browser: Browser, console_stack: LocalStack, places: dict[str, int]
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go("cases/{case}/documents/{document}".format_map(places))
        expect(page.get_by_role("link", name="Next document")).to_be_visible()
        turn_keys(window, on=False)
        page.keyboard.press("j")
        expect(page.get_by_role("heading", name="P-1")).to_be_visible()
        turn_keys(window, on=True)
        page.keyboard.press("j")
        expect(page.get_by_role("heading", name="P-2")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page).to_have_title(f"Documents · {CASE} · exhibit-ingest")


def test_escape_takes_a_dialog_from_the_page_before_the_next_key(
    browser: Browser, console_stack: LocalStack, places: dict[str, int]
) -> None:
    """The browser reports the end of a dialog later: until then, a key that opens it would do nothing."""
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go("cases/{case}/documents/{document}".format_map(places))
        page.evaluate("addEventListener('close', () => (window.isReported = true), true)")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.evaluate("window.isReported") is None, "a dialog that is still in the page was reported"


def test_the_link_to_an_export_shows_it_however_old_it_is(
    browser: Browser, console_stack: LocalStack, places: dict[str, int]
) -> None:
    wish = {"caseId": places["case"], "kind": "documents", "format": "csv", "filters": {}}
    ids = [request(console_stack, "POST", "/exports", wish)["id"] for _ in range(EXPORTS - 1)]
    export_past_the_page(console_stack, wish)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"activity?object=export:{ids[0]}")
        page.get_by_role("link", name=f"export {ids[0]}", exact=True).first.click()
        download = line_of(page, "Export of documents").get_by_role("button", name=f"Download export {ids[0]}")
        expect(download).to_be_visible()
        expect(page.get_by_text(f"Earlier tagging and exports ({EXPORTS - 1})")).to_be_visible()
        window.look()
        # It stays while the list is narrowed, and is not shown in another case.
        page.get_by_label("Words of the title").fill("Two")
        page.keyboard.press("Enter")
        expect(page.get_by_role("grid").get_by_role("link", name="P-2")).to_be_visible()
        expect(download).to_be_visible()
        window.go(f"cases/{places['other']}/documents?work=export:{ids[0]}")
        expect(page.get_by_role("grid").get_by_role("link", name="E-1")).to_be_visible()
        expect(page.get_by_role("button", name="Download")).to_have_count(0)
