"""The steps of the wizard, as a user takes them in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import PATIENCE_MS, Window, open_window


@contextmanager
def wizard(browser: Browser, stack: LocalStack, **context: Any) -> Iterator[Window]:
    """Yield a window in which the wizard is open; a throttled request that was repeated is not a fault."""
    with open_window(browser, stack.console_url, **context) as window:
        window.page.on("dialog", lambda dialog: dialog.accept())
        window.go("import")
        yield window
        window.faults[:] = [fault for fault in window.faults if not re.search(r"status of (429|503)", fault)]


def choose(page: Page, *paths: Path) -> None:
    """Choose a folder, or files."""
    if paths[0].is_dir():
        page.locator("input[data-picks=folder]").set_input_files(paths[0])
    else:
        page.locator("input[data-picks=files]").set_input_files(list(paths))


def create_case(page: Page, name: str) -> None:
    """Enter the name of a case that does not exist, and create it."""
    page.get_by_label("Name of the case").fill(name)
    page.get_by_role("button").filter(has_text=f"Create the case {name[:20]}").click()


def use_case(page: Page, name: str) -> None:
    """Choose a case that exists."""
    page.get_by_label("Name of the case").fill(name)
    page.get_by_role("button", name=f"Use {name}", exact=True).click()


def wait_until_arrived(page: Page, within_s: int = PATIENCE_MS // 1000) -> None:
    """Wait until the panel says that every file was sent; outside it that may be announced too."""
    arrived = page.get_by_role("main").get_by_text("Everything has arrived.")
    expect(arrived).to_be_visible(timeout=within_s * 1000)


def check(page: Page) -> None:
    """Have the file checked, and wait for what was found."""
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_text("Nothing was written to the case.").first).to_be_visible()


def run(page: Page, label: str) -> int:
    """Say that the warnings were read if there are any, and press the button that says what it does.

    Returns the id of the import.
    """
    button = page.get_by_role("button", name=label, exact=True)
    expect(button).to_be_visible()
    if button.is_disabled():
        page.get_by_label("I have read the").check()
    button.click()
    page.wait_for_url(re.compile(r"/imports/\d+$"))
    return int(page.url.rpartition("/")[2])


def field_of(page: Page, number: int) -> Locator:
    """Return the menu of the field that a column feeds."""
    return page.get_by_label(f"Field of column {number},")
