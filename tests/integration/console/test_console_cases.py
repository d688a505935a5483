"""The console opens by the printed link, shows the cases, and is confined and accessible wherever it is looked at."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from tests.support.console.browser import budget, first_load, open_window, store_cases

FILES = REPOSITORY / "functions" / "console_files"
# First load, compressed: the page, its scripts and styles.
BUDGET_BYTES = 120_000
HOSTILE = ["<img src=x onerror=alert(1)>", "\u05d0\u05d1\u05d2 (1)", "=1+1", "x" * 200]


def test_the_link_signs_in_and_a_reload_signs_in_again(browser: Browser, console_stack: LocalStack) -> None:
    with open_window(browser, console_stack.console_url) as window:
        expect(window.page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
        expect(window.page.get_by_text("me · admin")).to_be_visible()
        assert "key=" not in window.page.url
        window.page.reload()
        expect(window.page.get_by_text("me · admin")).to_be_visible()
    with open_window(browser, console_stack.console_url.partition("#")[0]) as window:
        expect(window.page.get_by_role("heading", name="You are signed out")).to_be_visible()
        assert [fault for fault in window.faults if "401" not in fault] == []
        window.faults.clear()


def test_cases_with_hostile_names_are_text_and_can_be_found(browser: Browser, console_stack: LocalStack) -> None:
    with open_window(browser, console_stack.console_url) as window:
        store_cases(window, HOSTILE)
        window.page.reload()
        expect(window.page.get_by_text(HOSTILE[0])).to_be_visible()
        window.look()
        window.page.get_by_label("Find a case").fill("img onerror")
        expect(window.page.get_by_role("row")).to_have_count(2)
        window.look()


def test_the_first_load_stays_in_its_budget(browser: Browser) -> None:
    assert budget(FILES, first_load(FILES)) < BUDGET_BYTES
