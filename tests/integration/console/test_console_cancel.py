"""A running import is cancelled from its page, which then says what is in the case and how to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import create_engine, text

from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.matters import build_file, find_case, load_file, request, send_file

pytestmark = pytest.mark.slow

CHUNK = 2_000
ROWS = 3 * CHUNK
# A row of the second chunk, whose document the case has already.
HELD = f"X-{CHUNK + 500}"


@contextmanager
def locked_document(stack: LocalStack, case: str) -> Iterator[None]:
    """Lock a document, so that the chunk which changes it waits until the block ends."""
    engine = create_engine(str(stack.options.database_url))
    with engine.connect() as connection:
        connection.execute(
            text("SELECT id FROM exhibits WHERE case_id = :case_id AND control_number = :number FOR UPDATE"),
            {"case_id": find_case(stack, case), "number": HELD},
        ).one()
        yield
        connection.rollback()
    engine.dispose()


def test_a_running_import_is_cancelled_and_goes_on_where_it_stopped(
    browser: Browser, console_stack: LocalStack
) -> None:
    case = "Cancelled midway"
    load_file(console_stack, case, build_file(f"{HELD},Before,Ada,"))
    rows = build_file(*(f"X-{number},After,Ada," for number in range(1, ROWS + 1)))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        with locked_document(console_stack, case):
            import_id = send_file(console_stack, case, rows, options={"mode": "append_overlay"})
            window.go(f"imports/{import_id}")
            expect(page.get_by_text(re.compile("[12] of 3 parts"))).to_be_visible()
            window.look()
            page.get_by_role("button", name="Cancel the import").click()
            dialog = page.get_by_role("dialog")
            expect(dialog).to_contain_text("Rows that are already imported stay in the case")
            dialog.get_by_role("button", name="Cancel the import").click()
            expect(page.get_by_role("main").get_by_text("The import was cancelled")).to_be_visible()
            expect(dialog).to_have_count(0)
        console_stack.wait_until_idle()
        page.reload()
        expect(page.get_by_role("main").get_by_text("The import was cancelled")).to_be_visible()
        state = request(console_stack, "GET", f"/imports/{import_id}/progress")
        stored = request(console_stack, "GET", f"/exhibits?caseId={find_case(console_stack, case)}&count=true&limit=1")
        assert state["imported"] + 1 == stored["total"], (state, stored)
        expect(page.locator("dt:text-is('imported') + dd")).to_have_text(f"{state['imported']:,}")
        expect(page.get_by_role("button", name="Undo…")).to_be_visible()
        window.look()
        page.get_by_role("button", name="Retry").click()
        dialog.get_by_role("button", name="Retry").click()
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()
        expect(page.locator("dt:text-is('updated') + dd")).to_have_text("1")
