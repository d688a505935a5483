"""The pictures of docs/console.md, made of the pages as they are: CONSOLE_PICTURES=1.

A page is a line of PAGES: the name of its picture, its place, what has to be there before it is taken, and what is
clicked first. Pictures are small, so that the repository stays small.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from samples.demo import demo_file
from samples.volume import VolumeSpec
from tests.support.console.browser import Window, open_window
from tests.support.console.matters import build_file, find_case, load_file, load_volume

PICTURES = REPOSITORY / "docs" / "console"
CASE, CHECKED_CASE = "Smith v. Jones", "Acme antitrust"
MOST_BYTES = 150_000
SIZE = {"width": 1000, "height": 640}


LOAD_FILE = (
    b"Control Number,Title,Custodian,Expiry Date,Tags\n"
    b"SVJ-0201,Board minutes,Lovelace,03/04/2019,Hot\nSVJ-0202,Budget,Hopper,05/04/2019,\n"
)


class Picture(NamedTuple):
    """A picture of a page; braces in `place` name what `matters` has. A wizard is given a load file first."""

    name: str
    place: str
    text: str
    click: str | None = None
    has_file: bool = False


# Pages of other packages are added here, with the text of docs/console.md that shows them.
PAGES = [
    Picture("cases", "", CASE),
    Picture("wizard", "import", "looks like a date, not mapped", f"Use {CASE}", has_file=True),
    Picture("imports", "cases/{case}/imports", "demo_production.dat"),
    Picture("import", "imports/{rows}", "10 rows of the file are not in the case."),
    Picture("undo", "imports/{rows}", "documents would be removed", "Undo…"),
    Picture("check", "imports/{check}", "Nothing was written to the case."),
    Picture("volume", "imports/{volume}", "Missing or open:"),
    Picture("fix", "imports/{rows}/fix", "10 rows of"),
    Picture("documents", "cases/{case}/documents?import={volume}&open={document}", "Other columns"),
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("CONSOLE_PICTURES" not in os.environ, reason="makes pictures: CONSOLE_PICTURES=1"),
]


@pytest.fixture(scope="module")
def matters(console_stack: LocalStack) -> dict[str, int]:
    """The ids that the places of PAGES name."""
    rows = load_file(console_stack, CASE, demo_file().data, "demo_production.dat")
    volume, _ = load_volume(console_stack, CASE, VolumeSpec())
    lines = build_file("C-1,Minutes,Ada,", "C-1,Twice,Ada,", ",No id,Ada,", "C-4,Letter,Ben,Hot")
    check = load_file(console_stack, CHECKED_CASE, lines, "second_production.csv", dryRun=True)
    case = find_case(console_stack, CASE)
    _, body = console_stack.request_api("local", "me", "GET", f"/exhibits?caseId={case}&importId={volume}&limit=1")
    document = int(body.partition(b'"id":')[2].partition(b",")[0])
    return {"case": case, "rows": rows, "volume": volume, "check": check, "document": document}


@pytest.mark.parametrize("picture", PAGES, ids=lambda picture: picture.name)
def test_a_picture_is_made(
    browser: Browser, console_stack: LocalStack, matters: dict[str, int], picture: Picture
) -> None:
    with open_window(browser, console_stack.console_url, viewport=SIZE) as window:
        take(window, picture, matters)
    file = PICTURES / f"{picture.name}.png"
    assert file.stat().st_size < MOST_BYTES
    assert picture.name in (REPOSITORY / "docs" / "console.md").read_text(encoding="utf-8")


def take(window: Window, picture: Picture, matters: dict[str, int]) -> None:
    """Open the page and write its picture."""
    window.go(picture.place.format_map(matters))
    if picture.has_file:
        file = FilePayload(name="VOL002.csv", mimeType="text/csv", buffer=LOAD_FILE)
        window.page.locator("input[data-picks=files]").set_input_files(file)
    if picture.click is not None:
        window.page.get_by_role("button", name=picture.click).click()
    expect(window.page.get_by_text(picture.text).first).to_be_visible()
    window.page.wait_for_load_state("networkidle")
    PICTURES.mkdir(exist_ok=True)
    window.page.screenshot(path=PICTURES / f"{picture.name}.png")
