"""The pictures of docs/console.md, made of the pages as they are: CONSOLE_PICTURES=1.

A page is a line of PAGES: the name of its picture, its place, what has to be there before it is taken, and what is
clicked first. Pictures are small, so that the repository stays small.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, FilePayload, FloatRect, expect
from sqlalchemy import text

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from samples.demo import demo_file
from samples.volume import VolumeSpec
from tests.support.console.browser import Window, open_window
from tests.support.console.custody_records import add_custodian, record
from tests.support.console.imported_cases import import_volume, list_documents
from tests.support.console.matters import TENANT, build_file, find_case, load_file, load_volume, request
from tests.support.console.productions import connect, load_case, produce
from tests.support.console.tiff_pages import write_tiff
from tests.support.console.viewed_files import build_opt, build_rows

PICTURES = REPOSITORY / "docs" / "console"
CASE, CHECKED_CASE, PRODUCED_CASE, VIEWED_CASE = "Smith v. Jones", "Acme antitrust", "Doe v. Roe", "In re Wren"
MOST_BYTES = 150_000
LAST = "Math.ceil(Math.max(...[...document.querySelectorAll('.page > *')].map(e => e.getBoundingClientRect().bottom)))"
SIZE = {"width": 1000, "height": 640}
MEMO = """MEMORANDUM

To:       Ada Lovelace
From:     Ben Franklin
Date:     3 April 2019
Subject:  Delivery of the second lot

The second lot arrived on Monday, 40 crates short. The warehouse
has the waybill; the carrier says that the crates were never
handed over to it.

I suggest that we tell the buyer before the meeting on Friday, and
not after it. Grace has seen this note and agrees.

Please keep it with the contract.
"""

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
    Picture("custody", "custody/100", "has held it since"),
    Picture("activity", "cases/{case}/activity", "completed import"),
    Picture("documents", "cases/{case}/documents?import={volume}&open={document}", "Other columns"),
    Picture("settings", "cases/{checked}/settings", "Legal hold"),
    Picture("viewer", "cases/{viewed}/documents/{memo}", "TIFF"),
    Picture("draft", "cases/{produced}/productions/new?all=1&prefix=DOE&slips=1", "Checked."),
    Picture("productions", "cases/{produced}/productions", "DOE0000001"),
    Picture("production", "productions/{production}", "is complete"),
    Picture("operations", "operations", "events not published"),
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
    record_history(console_stack)
    document = int(body.partition(b'"id":')[2].partition(b",")[0])
    produced = load_case(console_stack, PRODUCED_CASE)
    production = produce(console_stack, PRODUCED_CASE, "DOE")["id"]
    break_work(console_stack, load_file(console_stack, PRODUCED_CASE, build_file("R-1,Letter,Ada,"), "VOL002.csv"))
    viewed = load_memo(console_stack)
    parts = {"case": case, "rows": rows, "volume": volume, "check": check, "document": document}
    checked = find_case(console_stack, CHECKED_CASE)
    held = {"hold": {"reason": "Order of 2 March 2026, docket 114."}}
    request(console_stack, "PATCH", f"/cases/{checked}", held, if_match='"1"')
    return {**parts, **viewed, "produced": produced, "production": production, "checked": checked}


def load_memo(stack: LocalStack) -> dict[str, int]:
    """Import a memorandum of two pages, for the viewer."""
    pages = []
    for number in (1, 2):
        page = Image.new("1", (1700, 2200), "white")
        pen = ImageDraw.Draw(page)
        pen.multiline_text((180, 180), MEMO if number == 1 else "Distribution", fill="black", font_size=42, spacing=22)
        pen.text((1320, 2080), f"WREN000000{number}", fill="black", font_size=36)
        pages.append(write_tiff(page))
    opt = build_opt([("WREN0000001", "I/1.tif"), ("WREN0000002", "I/2.tif")])
    rows = build_rows(("WREN0000001", "Delivery of the second lot", "Hot", "", "T/1.txt"))
    files = {"DATA/rows.csv": rows, "DATA/images.opt": opt, "T/1.txt": MEMO.encode()}
    import_volume(stack, VIEWED_CASE, {**files, "I/1.tif": pages[0], "I/2.tif": pages[1]})
    memo = list_documents(stack, VIEWED_CASE)["WREN0000001"]["id"]
    return {"viewed": find_case(stack, VIEWED_CASE), "memo": memo}


def break_work(stack: LocalStack, import_id: int) -> None:
    """Have the import failed, and two events given up, for the page of operations."""
    with connect(stack) as connection:
        connection.execute(
            text(
                "UPDATE imports SET status = 'failed', failure_code = 'NOT_COMPLETED', failure_message = 'The import "
                "was not completed in any attempt. Retry it; if it fails again, ask the operator.' WHERE id = :id"
            ),
            {"id": import_id},
        )
        for sequence in (1, 2):
            connection.execute(
                text(
                    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, "
                    "tenant_id, failures, refusal, sequence, dead_lettered_at) VALUES ('import', :id, "
                    "'import.completed', '{}', 2, :tenant, 5, 'InvalidParameter', :sequence, NOW(6))"
                ),
                {"id": str(import_id), "tenant": TENANT, "sequence": 1000 + sequence},
            )
        connection.commit()


def record_history(stack: LocalStack) -> None:
    """Record a device that three custodians held, with a gap."""
    lovelace, hopper, room = (add_custodian(stack, CASE, name) for name in ("Lovelace", "Hopper", "Evidence room 2"))
    request(stack, "PUT", "/devices/100", {"label": "Lovelace’s laptop, asset 100"})
    record(
        stack, 100, (0, 30, lovelace), (30, 50, hopper), (52 + 1 / 6, 70, room), (70, 90, lovelace), (90, None, room)
    )


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
    expect(window.page.locator(".waiting, .bone")).to_have_count(0)
    window.page.wait_for_load_state("networkidle")
    PICTURES.mkdir(exist_ok=True)
    # Without the empty rest of a short page; a dialog is in the middle of the window.
    last = window.page.evaluate(LAST)
    height = SIZE["height"] if picture.click == "Undo…" else min(SIZE["height"], last + 24)
    clip = FloatRect(x=0, y=0, width=SIZE["width"], height=height)
    window.page.screenshot(path=PICTURES / f"{picture.name}.png", clip=clip)
