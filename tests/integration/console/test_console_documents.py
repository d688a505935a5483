"""The documents of a case: found by filters in the address, opened beside the list, and shown as text alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.document_steps import narrow
from tests.support.console.matters import HOSTILE_NAMES, build_file, find_case, load_file, quote

pytestmark = pytest.mark.slow

CASE = "Documents of Smith"
# More than one page of the list.
COUNT = 130


@pytest.fixture(scope="module")
def case_id(console_stack: LocalStack) -> int:
    rows = [f"D-{number:04},Minutes {number},{'Ada' if number % 2 else 'Ben'}," for number in range(1, COUNT + 1)]
    load_file(console_stack, CASE, build_file(*rows))
    load_file(console_stack, CASE, build_file("E-0001,Letter,Ada,Hot"), "letter.csv")
    return find_case(console_stack, CASE)


@pytest.fixture(scope="module")
def hostile(console_stack: LocalStack) -> int:
    """The id of a case whose names, and whose documents, are hostile."""
    rows, header = [], "Control Number,Title,Custodian,Tags,Notes"
    for number, name in enumerate(HOSTILE_NAMES, start=1):
        # A title and a name of a custodian or tag have less room than a property.
        cells = (name[:400], name[:200], name[:200], name)
        rows.append(f"H-{number},{','.join(map(quote, cells))}")
    load_file(console_stack, HOSTILE_NAMES[0], build_file(*rows, header=header), "<b>rows.csv")
    return find_case(console_stack, HOSTILE_NAMES[0])


def rows_of(page: Page) -> list[str]:
    return page.locator(".documents .grid-body").get_by_role("rowheader").get_by_role("link").all_inner_texts()


def test_filters_are_in_the_address_and_come_off(browser: Browser, console_stack: LocalStack, case_id: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("row", name=CASE).get_by_role("link", name="131").click()
        expect(page.get_by_text("131 documents", exact=True)).to_be_visible()
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "132")
        narrow(page, "Tag", "Hot")
        expect(page.locator(".grid-body .grid-row")).to_have_count(1)
        assert page.url.endswith(f"/cases/{case_id}/documents?tag=Hot")
        window.look()
        page.reload()
        expect(page.get_by_role("link", name="E-0001")).to_be_visible()
        page.get_by_role("link", name="Take away the filter: tag").click()
        expect(page.get_by_text("131 documents", exact=True)).to_be_visible()
        page.get_by_label("Title").fill("nothing has this")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="No document matches")).to_be_visible()
        expect(page.get_by_text("Is “")).to_have_count(0)
        window.look()
        page.get_by_label("Title").fill("E-0001")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="go to the control number").click()
        expect(page.get_by_role("link", name="E-0001")).to_be_visible()


def test_a_control_number_is_reached_and_the_documents_before_it(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?from=D-0128")
        expect(page.locator("[aria-activedescendant] .active").get_by_role("link", name="D-0128")).to_be_visible()
        assert rows_of(page)[-4:] == ["D-0128", "D-0129", "D-0130", "E-0001"]
        page.get_by_label("Go to control number").fill("D-0050")
        page.keyboard.press("Enter")
        expect(page.locator(".active").get_by_role("link", name="D-0050")).to_be_visible()
        assert page.url.endswith("?from=D-0050")


def test_a_document_opens_beside_the_list_and_closes_by_key(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?custodian=Ben")
        page.get_by_role("link", name="D-0004").click()
        panel = page.get_by_role("complementary")
        expect(panel.get_by_role("heading", name="D-0004")).to_be_focused()
        expect(panel.get_by_text("Minutes 4")).to_be_visible()
        assert "custodian=Ben&open=" in page.url
        window.look()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
        expect(page.get_by_role("grid")).to_be_focused()
        expect(page.locator(".active").get_by_role("link", name="D-0004")).to_be_visible()


def test_the_documents_of_an_import_are_a_link_on_its_page(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/imports")
        page.get_by_role("row", name="letter.csv").get_by_role("link", name="1", exact=True).click()
        expect(page.get_by_role("link", name="E-0001")).to_be_visible()
        assert rows_of(page) == ["E-0001"]


def test_hostile_names_are_shown_as_text(browser: Browser, console_stack: LocalStack, hostile: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{hostile}/documents")
        expect(page.get_by_role("heading", name=HOSTILE_NAMES[0])).to_be_visible()
        expect(page.get_by_role("gridcell", name="U+202E").first).to_be_visible()
        expect(page.get_by_role("gridcell", name=HOSTILE_NAMES[2]).first).to_be_visible()
        window.look()
        page.get_by_role("link", name="H-4").click()
        page.get_by_role("button", name="Show all 4,000 characters").click()
        expect(page.get_by_role("complementary").get_by_text(HOSTILE_NAMES[3])).to_be_visible()
        window.look()
        window.go(f"cases/{hostile}/imports")
        expect(page.get_by_role("row", name="<b>rows")).to_be_visible()
        window.look()
        page.get_by_role("row", name="<b>rows").get_by_role("link", name="Import").click()
        page.get_by_text("How the file was read").click()
        window.look()
        assert page.locator("main img, main b").count() == 0


def test_two_tenants_in_two_windows_see_their_own(browser: Browser, console_stack: LocalStack, case_id: int) -> None:
    with open_window(browser, console_stack.console_url) as mine, open_window(browser, mine.url) as theirs:
        page = theirs.page
        page.get_by_role("button", name="Change user").click()
        page.get_by_label("Tenant").fill("rival")
        page.get_by_role("dialog").get_by_role("button", name="Change user").click()
        expect(page.get_by_text("There are no cases yet")).to_be_visible()
        for window in (theirs, mine):
            window.go(f"cases/{case_id}/documents")
        expect(mine.page.get_by_role("link", name="D-0001")).to_be_visible()
        expect(page.get_by_role("alert")).to_be_visible()
        assert "D-00" not in page.inner_text("body")
        assert CASE not in page.inner_text("body")
        assert [fault for fault in theirs.faults if "404" not in fault] == []
        theirs.faults.clear()


def test_a_deep_link_survives_the_sign_in(browser: Browser, console_stack: LocalStack, case_id: int) -> None:
    place, _, key = console_stack.console_url.partition("#")
    with open_window(browser, f"{place}cases/{case_id}/documents?tag=Hot#{key}") as window:
        expect(window.page.get_by_role("link", name="E-0001")).to_be_visible()
        assert window.page.url == f"{place}cases/{case_id}/documents?tag=Hot"
