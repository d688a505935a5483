"""The grid of documents: every row of a long list is reached by scrollbar and keys, and is the right one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import create_engine, text

from local.stack import LocalStack
from tests.support.console.browser import Window, open_window
from tests.support.console.matters import build_file, find_case, load_file

pytestmark = pytest.mark.slow

CASE = "Grid of Jones"
COUNT = 20_000
# Positions and control numbers of the rows that are drawn, where they do not agree.
_WRONG = """() => [...document.querySelectorAll(".grid-body [role=row]")]
  .map((row) => [Number(row.ariaRowIndex ?? row.getAttribute("aria-rowindex")) - 1, row.querySelector("a")?.innerText])
  .filter(([index, number]) => number && number !== `G-${String(index).padStart(6, "0")}`)"""


@pytest.fixture(scope="module")
def case_id(console_stack: LocalStack) -> int:
    header = "Control Number,Parent,Title"
    rows = (f"G-{n:06},{f'G-{n - 1:06}' if n % 3 == 0 else ''},Letter {n}" for n in range(1, COUNT + 1))
    load_file(console_stack, CASE, build_file(*rows, header=header))
    return find_case(console_stack, CASE)


@pytest.fixture
def window(browser: Browser, console_stack: LocalStack, case_id: int) -> Iterator[Window]:
    with open_window(browser, console_stack.console_url) as opened:
        opened.go(f"cases/{case_id}/documents")
        expect(opened.page.get_by_role("grid")).to_have_attribute("aria-rowcount", str(COUNT + 1))
        yield opened


def expect_row(page: Page, number: int) -> None:
    expect(page.get_by_role("link", name=f"G-{number:06}")).to_be_visible()
    assert page.evaluate(_WRONG) == []


def expect_active(page: Page, number: int) -> None:
    expect(page.locator(".active").get_by_role("link", name=f"G-{number:06}")).to_be_visible()
    active = page.get_by_role("grid").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active} a").inner_text() == f"G-{number:06}"


def test_the_scrollbar_stands_for_the_whole_case(window: Window) -> None:
    page = window.page
    for share in (0.5, 0.02, 0.97, 0.31, 1, 0):
        place = f"(grid) => {{ grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * {share}; }}"
        page.get_by_role("grid").evaluate(place)
        expect_row(page, max(round(share * COUNT), 1))
        assert page.locator(".grid-row").count() < 70
    window.look()


def test_keys_move_open_choose_and_close(window: Window) -> None:
    page = window.page
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    expect_active(page, COUNT)
    page.keyboard.press("Home")
    for key in ("j", "j", "k", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    expect_active(page, 3)
    expect(page.locator(".active").get_by_text("Attachment")).to_have_count(1)
    page.keyboard.press("x")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_text("2 chosen")).to_be_visible()
    assert page.locator("[aria-selected=true] a").all_inner_texts() == ["G-000003", "G-000004"]
    window.look()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", name="G-000004")).to_be_visible()
    page.keyboard.press("j")
    expect(panel.get_by_role("heading", name="G-000005")).to_be_visible()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.get_by_role("grid")).to_be_focused()
    page.get_by_role("button", name="Choose all 20,000 that match").click()
    page.get_by_role("checkbox", name="Choose G-000005").click()
    expect(page.get_by_text("19,999 chosen, all but 1")).to_be_visible()


def test_keys_of_every_page_are_listed_and_lead_to_the_pages_of_the_case(window: Window, case_id: int) -> None:
    page = window.page
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog.get_by_text("go to the documents of the case")).to_be_visible()
    expect(dialog.get_by_text("choose the document, or undo that")).to_be_visible()
    window.look()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.get_by_label("Words of the title")).to_be_focused()
    page.keyboard.type("gc?")
    expect(page.get_by_label("Words of the title")).to_have_value("gc?")
    page.get_by_role("grid").focus()
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page).to_have_url(f"{window.url.partition('#')[0]}cases/{case_id}/imports")
    page.keyboard.press("g")
    page.keyboard.press("d")
    expect(page.get_by_role("grid")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()


def test_a_link_to_a_document_shows_its_place(window: Window, console_stack: LocalStack, case_id: int) -> None:
    page = window.page
    exhibit = _find(console_stack, case_id, "G-012345")
    for place, number in ((f"open={exhibit}", 12_345), ("from=G-0177", 17_700)):
        window.go(f"cases/{case_id}/documents?{place}")
        expect_active(page, number)
        # The place is read after the rows; until then they are counted from the first one that is known.
        page.wait_for_function(f"() => ({_WRONG})().length === 0")
        expect_row(page, number)


def test_rows_that_are_removed_meanwhile_are_not_missed_beside_others(
    browser: Browser, console_stack: LocalStack
) -> None:
    rows = (f"R-{n:06},Letter {n}" for n in range(1, 4_001))
    load_file(console_stack, "Removed", build_file(*rows, header="Control Number,Title"))
    removed = find_case(console_stack, "Removed")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{removed}/documents")
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "4001")
        _remove(console_stack, removed, first="R-001000", last="R-001099")
        seen = list[str]()
        page.get_by_role("grid").focus()
        while "R-004000" not in seen:
            page.keyboard.press("PageDown")
            expect(page.locator(".active a")).to_be_visible()
            expect(page.locator(".grid-body .bone")).to_have_count(0)
            drawn = page.locator(".grid-body").get_by_role("rowheader").get_by_role("link").all_inner_texts()
            assert drawn == sorted(set(drawn))
            seen += [each for each in drawn if each not in seen]
        left = [f"R-{n:06}" for n in range(1, 4_001) if not 1_000 <= n <= 1_099]
        assert [each for each in seen if each in left] == left
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "3901")


def _find(stack: LocalStack, case_id: int, number: str) -> int:
    engine = create_engine(stack.database_url)
    with engine.begin() as connection:
        statement = "SELECT id FROM exhibits WHERE case_id = :case AND control_number = :number"
        [[found]] = connection.execute(text(statement), {"case": case_id, "number": number})
    engine.dispose()
    return int(found)


def _remove(stack: LocalStack, case_id: int, first: str, last: str) -> None:
    engine = create_engine(stack.database_url)
    with engine.begin() as connection:
        statement = "DELETE FROM exhibits WHERE case_id = :case AND control_number BETWEEN :first AND :last"
        connection.execute(text(statement), {"case": case_id, "first": first, "last": last})
    engine.dispose()
