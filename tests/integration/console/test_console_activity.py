"""Activity: who did what, by day and by filter, and what is new is announced and not pushed under the reader."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.custody_records import OTHER, add_custodian, record, request_as
from tests.support.console.matters import build_file, find_case, load_file

pytestmark = pytest.mark.slow

CASE = "Watched <b>case"


def test_activities_are_filtered_linked_and_kept_in_place(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, CASE, build_file("W-1,One,Ada,", ",No id,Ada,"))
    holder = add_custodian(console_stack, CASE, "Ada Watched")
    record(console_stack, 210, (0, None, holder))
    case = find_case(console_stack, CASE)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case}/activity")
        expect(page.get_by_role("heading", name=CASE)).to_be_visible()
        expect(page.get_by_role("heading", name="Today")).to_be_visible()
        completed = page.get_by_role("listitem").filter(has_text=f"completed import {import_id}")
        expect(completed).to_contain_text("1 imported, 1 rejected")
        expect(page.get_by_text("device 210")).to_have_count(0)
        window.look()
        completed.get_by_role("link", name=f"Only this import {import_id}").click()
        expect(page).to_have_url(re.compile(f"object=import%3A{import_id}$"))
        expect(page.get_by_role("main").locator(".day").get_by_text("custodian")).to_have_count(0)
        page.get_by_role("link", name=f"import {import_id}", exact=True).first.click()
        expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()

        window.go(f"activity?user={OTHER}&from=2026-01-01")
        lines = page.get_by_role("main").locator(".day li")
        expect(lines.first).to_contain_text(f"{OTHER} recorded custody of device 210 · 1 period")
        expect(page.get_by_role("list", name="Filters")).to_contain_text(f"by {OTHER}")
        count = lines.count()
        request_as(console_stack, OTHER, "PUT", "/devices/210", {"label": "New label"})
        fresh = page.get_by_role("button", name="Show 1 new activity")
        expect(fresh).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="There are new activities.")).to_have_count(1)
        expect(lines).to_have_count(count)
        fresh.click()
        expect(lines.first).to_contain_text("labelled device 210")
        page.get_by_label("Object", exact=True).select_option("tagging_job")
        page.get_by_label("Number of the object").fill("999999")
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_text("No activity matches")).to_be_visible()
        window.look()
        page.get_by_role("link", name="show all activities").click()
        lines.first.get_by_role("link", name="device 210", exact=True).click()
        expect(page.get_by_role("heading", name="Device 210 · New label")).to_be_visible()


def test_the_header_switches_cases_and_keeps_the_kind_of_page(browser: Browser, console_stack: LocalStack) -> None:
    one, _ = (load_file(console_stack, name, build_file("S-1,One,Ada,")) for name in ("Switch one", "Switch two"))
    two = find_case(console_stack, "Switch two")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{one}")
        switch = page.get_by_role("button", name="Case: Switch one")
        expect(page.get_by_role("link", name="Cases", exact=True).first).to_have_attribute("aria-current", "true")
        switch.click()
        field = page.get_by_label("Name of the case")
        expect(field).to_be_focused()
        field.fill("switch tw")
        expect(page.get_by_role("dialog").get_by_role("link")).to_have_text(["Switch two"])
        window.look()
        field.press("ArrowDown")
        expect(page.get_by_role("link", name="Switch two")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"/cases/{two}/imports$"))
        expect(field).to_be_hidden()
        expect(page.get_by_role("button", name="Case: Switch two")).to_be_visible()
        window.go("custody/1")
        custody = page.get_by_role("navigation", name="Main").get_by_role("link", name="Custody")
        expect(custody).to_have_attribute("aria-current", "true")
        page.keyboard.press("g")
        page.keyboard.press("c")
        expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name="Operations")).to_be_visible()
        become_viewer(page)
        expect(page.get_by_role("link", name="Custody")).to_be_visible()
        expect(page.get_by_role("link", name="Operations")).to_have_count(0)
