"""The first minute: a folder is dropped, read, checked and imported, and the row that was rejected is corrected."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.imported_cases import list_documents
from tests.support.console.wizard_steps import choose, create_case, run, wizard

CASE, NUMBERLESS = "Smith v. Jones", "MIN0000099"


def write_folder(directory: Path) -> Path:
    """Write a volume whose last row has no number."""
    folder = generate_volume(VolumeSpec("VOL001", "MIN")).write(directory)
    file = next(folder.rglob("*.dat"))
    first, *_ = file.read_bytes().splitlines()
    cells = ["", "", "", "", "", "Lovelace, Ada", "Without a number", "2024-03-20", "", "", "", ""]
    assert first.count(b"\x14") == len(cells) - 1
    file.write_bytes(file.read_bytes() + "\x14".join(f"þ{cell}þ" for cell in cells).encode() + b"\r\n")
    return folder


def test_the_first_minute(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    folder, began = write_folder(tmp_path), time.monotonic()
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, folder)
        expect(page.get_by_text("VOL001.dat and VOL001.opt found").first).to_be_visible()
        create_case(page, CASE)
        page.wait_for_url(re.compile(r"/import/volume/\d+$"))
        page.get_by_role("button", name="Check the file").click()
        expect(page.get_by_text("1 row would be rejected").first).to_be_visible()
        run(page, "Import 19 rows, add 36 pages and leave 2")
        expect(page.get_by_text("1 row of the file is not in the case.").first).to_be_visible()
        fix(page)
    assert NUMBERLESS in list_documents(console_stack, CASE)
    print(f"the first minute took {time.monotonic() - began:.0f} s")


def fix(page: Page) -> None:
    """Give the row its number on the sheet, and load it."""
    page.get_by_role("link", name="Fix 1 row").click()
    page.get_by_label("Begin Bates, line 21", exact=True).fill(NUMBERLESS)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".loads")).to_contain_text("1 of 1 imported by import")
    expect(page.get_by_text("Nothing is open in this import.")).to_be_visible()
