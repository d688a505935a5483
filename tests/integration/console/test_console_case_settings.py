"""The settings of a case: an administrator renames, closes, holds and purges it, and its pages say what that means."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.matters import build_file, find_case, load_file

pytestmark = pytest.mark.slow

CASE, RENAMED = "Settled case", "Settled and renamed"


def act(page: Page, label: str, *entered: tuple[str, str]) -> None:
    """Choose a change of the case, enter what it needs, and confirm it."""
    page.get_by_role("button", name=f"{label}…").click()
    dialog = page.get_by_role("dialog", name=f"{label}?")
    for field, text in entered:
        dialog.get_by_label(field).fill(text)
    dialog.get_by_role("button", name=label, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_case_is_renamed_closed_held_and_purged(browser: Browser, console_stack: LocalStack) -> None:
    load_file(console_stack, CASE, build_file("L-1,One,Ada,"))
    case = find_case(console_stack, CASE)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case}/settings")
        expect(page.get_by_role("link", name="Import files")).to_be_visible()
        window.look()
        act(page, "Rename the case", ("Name", RENAMED))
        expect(page.get_by_role("heading", name=RENAMED)).to_be_visible()

        act(page, "Place a legal hold", ("Reason", "Order of 2 March 2026"))
        expect(page.get_by_text("Legal hold").first).to_be_visible()
        expect(page.get_by_role("button", name="Purge the case…")).to_have_count(0)
        window.look()
        act(page, "Lift the legal hold")

        act(page, "Close the case")
        expect(page.get_by_text("This case is closed.")).to_be_visible()
        expect(page.get_by_role("link", name="Import files")).to_have_count(0)
        for part in ("documents", "productions"):
            window.go(f"cases/{case}/{part}")
            expect(page.get_by_text("This case is closed.")).to_be_visible()
        expect(page.get_by_role("link", name="New production")).to_have_count(0)
        window.go("")
        expect(page.get_by_role("row").filter(has_text=RENAMED)).to_contain_text("closed")

        window.go(f"cases/{case}/settings")
        page.get_by_role("button", name="Purge the case…").click()
        dialog = page.get_by_role("dialog", name="Purge the case?")
        purge = dialog.get_by_role("button", name="Purge the case", exact=True)
        expect(purge).to_be_disabled()
        dialog.get_by_label("Enter the name of the case").fill(RENAMED.lower())
        expect(purge).to_be_disabled()
        dialog.get_by_label("Enter the name of the case").fill(RENAMED)
        dialog.get_by_label("First day of the purge").fill("2099-01-31")
        window.look()
        purge.click()
        expect(page.get_by_text("deleted for good from 2099-01-31 on")).to_be_visible()
        act(page, "Withdraw the purge")
        act(page, "Reopen the case")
        expect(page.get_by_role("link", name="Import files")).to_be_visible()


def test_others_than_administrators_see_the_state_alone(browser: Browser, console_stack: LocalStack) -> None:
    load_file(console_stack, "Watched settings", build_file("L-2,One,Ada,"))
    case = find_case(console_stack, "Watched settings")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("button", name="Change user").click()
        page.get_by_label("Role").select_option("editor")
        page.get_by_role("dialog").get_by_role("button", name="Change user").click()
        expect(page.get_by_text("· editor")).to_be_visible()
        window.go(f"cases/{case}/settings")
        expect(page.get_by_text("Only an administrator can rename")).to_be_visible()
        expect(page.get_by_role("group", name="Changes of the case")).to_have_count(0)
        window.look()
