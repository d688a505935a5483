"""How documents are chosen in the grid of documents."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def choose(page: Page, *numbers: str, by_keys: bool = False) -> None:
    """Choose these documents, which are near the top of the list."""
    for number in numbers:
        box = page.get_by_role("checkbox", name=f"Choose {number}", exact=True)
        expect(box).to_be_visible()
        if by_keys:
            _go_to(page, number)
            page.keyboard.press("x")
        else:
            box.click()
        expect(box).to_be_checked()


def _go_to(page: Page, number: str) -> None:
    """Walk to the row of the document from the first one, by `j`."""
    grid = page.get_by_role("grid", name="Documents")
    grid.focus()
    page.keyboard.press("Home")
    row = page.get_by_role("row").filter(has=page.get_by_text(number, exact=True))
    expected = row.get_attribute("id")
    for _ in range(20):
        if grid.get_attribute("aria-activedescendant") == expected:
            return
        page.keyboard.press("j")
    raise AssertionError(f"{number} is not among the first documents")


def choose_all(page: Page) -> None:
    """Choose all that match."""
    page.get_by_role("checkbox", name="Choose all that match").click()


def leave_out(page: Page, number: str) -> None:
    """Leave out this document of all that match."""
    box = page.get_by_role("checkbox", name=f"Choose {number}", exact=True)
    box.click()
    expect(box).not_to_be_checked()
