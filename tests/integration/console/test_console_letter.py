"""The letter of deficiencies has the numbers of the database, and leaves the page as a text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import bindparam, text

from core.checks.deficiencies import DEFICIENT, HEADINGS
from local.stack import LocalStack
from samples.volume import VolumeSpec
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.matters import load_volume, request
from tests.support.console.productions import connect

pytestmark = pytest.mark.slow

_FOUND = (
    "SELECT code FROM import_rejections WHERE import_id IN :ids "
    "UNION ALL SELECT code FROM import_warnings WHERE import_id IN :ids"
)


def count_found(stack: LocalStack, *import_ids: int) -> dict[str, int]:
    """How many deficiencies the database has of these imports, by the heading of a letter."""
    with connect(stack) as connection:
        codes = connection.execute(text(_FOUND).bindparams(bindparam("ids", expanding=True)), {"ids": import_ids})
        return Counter(HEADINGS[DEFICIENT[code]] for code in codes.scalars() if code in DEFICIENT)


def read_counts(letter: str) -> dict[str, int]:
    """The headings of a letter with their numbers."""
    return {heading: int(number) for heading, number in re.findall(r"^([A-Z].*) \(([0-9,]+)\):$", letter, re.MULTILINE)}


def test_the_letter_has_the_numbers_of_the_database(browser: Browser, console_stack: LocalStack) -> None:
    rows, images = load_volume(console_stack, "Deficient volume", VolumeSpec(families=5))
    state = request(console_stack, "GET", f"/imports/{images}")
    with open_window(browser, console_stack.console_url, permissions=["clipboard-read", "clipboard-write"]) as window:
        page = window.page
        become_viewer(page)
        window.go(f"imports/{images}")
        page.get_by_role("button", name="Letter of deficiencies").click()
        letter = page.get_by_label("The letter")
        expect(letter).to_contain_text("Re: volume VOL001, load file VOL001.opt")
        expect(letter).to_contain_text(
            f"{state['rowsSeen']} documents of the image load file were read; {state['rejected']} was not accepted."
        )
        # That of the images has what is missing of the whole volume.
        expected = count_found(console_stack, rows, images)
        shown = letter.inner_text()
        assert expected
        assert read_counts(shown) == expected
        assert len(re.findall(r"^ +- ", shown, re.MULTILINE)) == sum(expected.values())
        window.look()
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_text("The letter is copied.")).to_be_attached()
        assert page.evaluate("navigator.clipboard.readText()").strip() == shown.strip()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as .txt").click()
        assert saved.value.suggested_filename == f"import {images} - deficiencies.txt"
        written = Path(saved.value.path()).read_bytes()
        assert written.decode("utf-8-sig").replace("\r\n", "\n").strip() == shown.strip()
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Open to print").click()
        expect(opened.value.get_by_text("Re: volume VOL001")).to_be_visible()
