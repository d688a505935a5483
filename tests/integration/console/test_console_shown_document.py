"""What keys of the list act on: the document that is shown beside it, or a row that is in view."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, open_window
from tests.support.console.document_steps import list_tagged, tag_by_keys
from tests.support.console.documents import edit
from tests.support.console.matters import build_file, find_case, load_file

pytestmark = pytest.mark.slow

CASE = "Shown to Smith"
COUNT = 300


@pytest.fixture(scope="module")
def case_id(console_stack: LocalStack) -> int:
    parents = {200: "S-0001"}
    rows = (f"S-{n:04},Letter {n},{parents.get(n, '')}" for n in range(1, COUNT + 1))
    load_file(console_stack, CASE, build_file(*rows, header="Control Number,Title,Parent"))
    return find_case(console_stack, CASE)


@pytest.fixture
def window(browser: Browser, console_stack: LocalStack, case_id: int) -> Iterator[Window]:
    with open_window(browser, console_stack.console_url) as opened:
        yield opened


def show(page: Page, number: str) -> Locator:
    """Open a document by its row, and return the panel."""
    page.get_by_role("grid").get_by_role("link", name=number).click()
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", name=number)).to_be_visible()
    return panel


def expect_active(page: Page, number: str) -> None:
    expect(page.locator(".active").get_by_role("link", name=number)).to_be_in_viewport()


def test_x_and_t_act_on_the_document_that_is_shown(window: Window, console_stack: LocalStack, case_id: int) -> None:
    page = window.page
    window.go(f"cases/{case_id}/documents")
    panel = show(page, "S-0001")
    panel.get_by_role("link", name="S-0200").click()
    expect(panel.get_by_role("heading", name="S-0200")).to_be_focused()
    expect_active(page, "S-0200")
    page.go_back()
    expect_active(page, "S-0001")
    page.go_forward()
    expect_active(page, "S-0200")
    # The panel goes with the list.
    page.get_by_label("Go to control number").fill("S-0100")
    page.keyboard.press("Enter")
    expect_active(page, "S-0100")
    expect(panel.get_by_role("heading", name="S-0100")).to_be_visible()
    page.get_by_role("grid").evaluate("(grid) => { grid.scrollTop = 0; }")
    panel.get_by_role("heading", name="S-0100").focus()
    page.keyboard.press("x")
    expect(page.get_by_role("status").filter(has_text="S-0100 is chosen, 1 in all.")).to_have_count(1)
    expect_active(page, "S-0100")
    tag_by_keys(page, "Shown")
    expect(page.get_by_role("grid").locator(".open").get_by_text("Shown")).to_be_visible()
    assert list_tagged(console_stack, case_id, "Shown") == ["S-0100"]


def test_a_document_that_leaves_the_list_stays_the_one_that_is_meant(
    window: Window, console_stack: LocalStack, case_id: int
) -> None:
    page = window.page
    window.go(f"cases/{case_id}/documents?withoutTag=Done")
    panel = show(page, "S-0003")
    page.keyboard.press("x")
    tag_by_keys(page, "Done")
    expect(page.get_by_role("grid").get_by_role("link", name="S-0003")).to_have_count(0)
    assert list_tagged(console_stack, case_id, "Done") == ["S-0003"]
    expect_active(page, "S-0004")
    page.get_by_role("button", name="Choose none").click()
    panel.get_by_role("heading", name="S-0003").focus()
    page.keyboard.press("x")
    expect(page.get_by_role("status").filter(has_text="S-0003 is chosen, 1 in all.")).to_have_count(1)
    expect(page.locator("[aria-selected=true]")).to_have_count(0)
    # The next document is the one after it, and is not passed by.
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="S-0004")).to_be_visible()


def test_a_row_that_is_chosen_is_shown_and_named(window: Window, case_id: int) -> None:
    page = window.page
    window.go(f"cases/{case_id}/documents")
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("link", name="S-0001")).to_be_visible()
    grid.focus()
    page.keyboard.press("Home")
    page.keyboard.press("j")
    grid.evaluate("(grid) => { grid.scrollTop = 150 * 28; }")
    expect(grid.get_by_role("link", name="S-0155")).to_be_visible()
    page.keyboard.press("x")
    expect_active(page, "S-0002")
    expect(page.get_by_role("status").filter(has_text="S-0002 is chosen, 1 in all.")).to_have_count(1)
    page.keyboard.press("x")
    expect(page.get_by_role("status").filter(has_text="S-0002 is no longer chosen, 0 in all.")).to_have_count(1)
    # Without chosen documents there is nothing to tag.
    page.keyboard.press("t")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_escape_in_the_list_asks_about_what_is_not_saved(window: Window, case_id: int) -> None:
    page = window.page
    window.go(f"cases/{case_id}/documents")
    panel = show(page, "S-0005")
    form = edit(page)
    form.get_by_label("Title").fill("Not saved yet")
    page.get_by_role("grid").focus()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_role("button", name="Go on editing").click()
    expect(form.get_by_label("Title")).to_have_value("Not saved yet")
    page.get_by_role("grid").focus()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").get_by_role("button", name="Drop the changes").click()
    expect(panel).to_have_count(0)
