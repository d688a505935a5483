"""An undo says what it would do before it does it, and afterwards what it did and why something stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.matters import build_file, find_case, load_file, request

pytestmark = pytest.mark.slow

ROWS = build_file("U-1,One,Ada,Hot", "U-2,Two,Ada,", "U-3,Three,Ben,")


def load_and_edit(stack: LocalStack, case: str) -> int:
    """An import of three documents, of which a user has changed one since."""
    import_id = load_file(stack, case, ROWS)
    edited = request(stack, "GET", f"/exhibits?caseId={find_case(stack, case)}&controlNumber=U-2")["items"][0]
    request(stack, "PATCH", f"/exhibits/{edited['id']}", {"title": "Mine"}, f'"{edited["version"]}"')
    return import_id


def test_an_undo_shows_what_it_would_do_and_then_what_it_did(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_and_edit(console_stack, "Undo by keyboard")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{import_id}")
        page.get_by_role("button", name="Undo…").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("2 documents would be removed.")).to_be_visible()
        expect(dialog.get_by_text("a user or a later import has changed the document")).to_be_visible()
        dialog.get_by_text("Which documents stay").click()
        expect(dialog.get_by_role("cell", name="U-2")).to_be_visible()
        window.look()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("completed", exact=True)).to_be_visible()
        page.get_by_role("button", name="Undo…").click()
        button = dialog.get_by_role("button", name="Undo: remove 2 documents")
        button.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("undone with conflicts")).to_be_visible()
        expect(page.get_by_role("main").get_by_text("2 documents were removed.")).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="something of it stays")).to_have_count(1)
        expect(page.get_by_role("link", name="Download what stayed, and why")).to_be_visible()
        window.look()
    left = request(console_stack, "GET", f"/exhibits?caseId={find_case(console_stack, 'Undo by keyboard')}")["items"]
    assert [each["controlNumber"] for each in left] == ["U-2"]


def test_an_undo_that_has_to_wait_names_the_import_to_undo_first(browser: Browser, console_stack: LocalStack) -> None:
    first = load_file(console_stack, "Undo in order", ROWS)
    overlay = build_file("U-1,Newer,Ada,Hot")
    second = load_file(console_stack, "Undo in order", overlay, options={"mode": "overlay"})
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"imports/{first}")
        page.get_by_role("button", name="Undo…").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("1 document would stay")).to_be_visible()
        dialog.get_by_text("Which documents stay").click()
        dialog.get_by_role("link", name=f"import {second}").first.click()
        expect(page.get_by_role("heading", name=f"Import {second}")).to_be_visible()
        page.get_by_role("button", name="Undo…").click()
        expect(dialog.get_by_role("button", name="Undo: restore 1 document")).to_be_visible()


def test_a_viewer_sees_the_import_and_no_button_that_changes_it(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, "Looked at", build_file("V-1,One,Ada,", ",No id,Ada,"))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        window.go(f"imports/{import_id}")
        expect(page.get_by_text("1 row of the file is not in the case.")).to_be_visible()
        expect(page.get_by_text("Changing it requires the role editor")).to_be_visible()
        expect(page.get_by_role("button", name="Undo…")).to_have_count(0)
        assert window.check_accessibility() == []
