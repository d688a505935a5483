"""Every page opens from a link through the sign-in, and offers a viewer nothing that the role does not allow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.matters import build_file, find_case, load_file, request

pytestmark = pytest.mark.slow

CASE = "Read by viewers"
CHANGES = re.compile(
    r"^(Cancel|Undo|Retry|Load|Leave|Discard|Import files|Check the file|Save|Go on|Continue|Fix|Create"
    r"|Add|Record|Hand|Label|Edit|Remove)"
)


def build_pages(stack: LocalStack) -> dict[str, str]:
    """Return the path of each page with a text that stands on it."""
    rows = build_file("V-1,One,Ada,", ",No id,Ada,")
    imported, held = load_file(stack, CASE, rows), load_file(stack, CASE, rows, "held.csv", hold=True)
    volume = request(stack, "POST", "/volumes", {"case": CASE, "name": "VOL001"})["id"]
    case = find_case(stack, CASE)
    request(stack, "PUT", "/devices/300", {"label": "Seen by viewers"})
    document = request(stack, "GET", f"/exhibits?caseId={case}")["items"][0]["id"]
    return {
        "": CASE,
        f"cases/{case}/imports": "held.csv",
        f"cases/{case}/documents": "V-1",
        f"cases/{case}/documents?open={document}": "Custodians",
        f"imports/{imported}": "1 row of the file is not in the case.",
        f"imports/{imported}/fix": "is not in the case",
        f"imports/{held}": "The file has arrived and is held",
        "import": "Import files",
        f"import/{held}": "Import files",
        f"import/volume/{volume}": "Import files",
        "custody": "no recorded holder",
        "custody/300": "No period is recorded",
        "activity": "Today",
        f"cases/{case}/activity": "Today",
        "no/such/page": "This page does not exist",
    }


def test_each_page_opens_from_its_link_and_a_viewer_is_offered_no_change(
    browser: Browser, console_stack: LocalStack
) -> None:
    base, _, key = console_stack.console_url.partition("#")
    pages = build_pages(console_stack)
    for path, words in pages.items():
        with open_window(browser, f"{base}{path}#{key}") as window:
            expect(window.page.get_by_role("main").get_by_text(words).first).to_be_visible()
            assert window.page.url == f"{base}{path}"
            window.page.reload()
            expect(window.page.get_by_role("main").get_by_text(words).first).to_be_visible()
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        for path, words in pages.items():
            window.go(path)
            expect(page.get_by_role("main").get_by_text(words).first).to_be_visible()
            main = page.get_by_role("main")
            # Not by their names: links to cases have those that users gave.
            links = main.locator(":is(a[href*='/import/'], a[href$='/import'], a.button[href*='/fix'])")
            offered = [main.get_by_role("button", name=CHANGES), links]
            assert [name for each in offered for name in each.all_inner_texts()] == [], path
            assert main.locator("input[type=file], select:enabled[aria-label^=Field]").count() == 0
            window.look()
            if path.startswith("import"):
                expect(main.get_by_text(re.compile("role (is )?(editor|viewer)")).first).to_be_visible()
