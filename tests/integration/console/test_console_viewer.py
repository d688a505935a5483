"""A document to look at: its pages, native and text; what is damaged, missing, or never shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from local.stack import LocalStack
from tests.support.console import viewed_files as files
from tests.support.console.browser import Window, become_viewer, open_window
from tests.support.console.imported_cases import import_volume, list_documents
from tests.support.console.tiff_pages import draw_page, write_tiff

pytestmark = pytest.mark.slow

CASE = "Looked at"
TARGET = "http://evidence.invalid"
TEXT = "Zoë wrote: café\r\n\tto Ada\u202e, and\u0007 signed it.\r\n"


def build_volume() -> dict[str, bytes]:
    one, two = (write_tiff(draw_page(number)) for number in (1, 2))
    broken = one[: len(one) // 2]
    rows = [
        ("V-01", "Minutes", "Hot", "N/minutes.pdf", "T/01.txt"),
        ("V-02", "Markup", "", "N/markup.png", ""),
        ("V-03", "Drawing", "Hot", "N/drawing.svg", ""),
        ("V-04", "Letter", "", "N/letter.docx", "T/04.txt"),
        ("V-05", "Damaged", "", "N/damaged.pdf", ""),
        ("V-06", "Fax", "Hot", "N/fax.tif", ""),
        ("V-07", "Photograph", "", "N/photo.png", ""),
        ("V-08", "Lost", "", "N/lost.msg", ""),
        ("V-09", "Nothing", "", "", ""),
        ("V-10", "Web page", "", "N/page.html", ""),
        ("V-11", "Empty", "", "N/empty.txt", ""),
    ]
    opt = files.build_opt(
        [("VOL-0001", "I/1.tif"), ("VOL-0002", "I/2.tif"), ("VOL-0003", "I/gone.tif")],
        [("VOL-0004", "I/broken.tif")],
    )
    return {
        "DATA/rows.csv": files.build_rows(*rows),
        "DATA/images.opt": opt.replace(b"VOL-0001", b"V-01").replace(b"VOL-0004", b"V-05"),
        "I/1.tif": one,
        "I/2.tif": two,
        "I/broken.tif": broken,
        "N/minutes.pdf": files.acting_pdf(TARGET),
        "N/markup.png": files.HTML,
        "N/drawing.svg": files.SVG,
        "N/letter.docx": b"PK\3\4 not a letter",
        "N/damaged.pdf": files.HTML,
        "N/fax.tif": write_tiff(*(draw_page(number) for number in (1, 2, 3)), compression="group3"),
        "N/photo.png": files.png(),
        "N/page.html": files.HTML,
        "N/empty.txt": b"",
        "T/01.txt": TEXT.encode(),
        "T/04.txt": ("Line of a long text.\n" * 40_000).encode("utf-16"),
    }


@pytest.fixture(scope="module")
def documents(console_stack: LocalStack) -> dict[str, dict[str, Any]]:
    import_volume(console_stack, CASE, build_volume())
    return list_documents(console_stack, CASE)


@pytest.fixture
def window(browser: Browser, console_stack: LocalStack, documents: dict[str, dict[str, Any]]) -> Iterator[Window]:
    with open_window(browser, console_stack.console_url) as window:
        yield window
        # Nothing of the evidence ran, loaded something, or became a part of the page.
        assert window.page.evaluate("window.ran") is None
        assert window.page.title().endswith(f"{CASE} · exhibit-ingest")
        assert window.page.locator("main").locator("iframe, object, embed, script, svg").count() == 0


def open_document(window: Window, document: dict[str, Any], query: str = "") -> Page:
    window.go(f"cases/{document['caseId']}/documents/{document['id']}{query}")
    expect(window.page.get_by_role("heading", level=1)).to_contain_text(document["controlNumber"])
    return window.page


def hash_page(page: Page, label: str) -> str:
    """The SHA-256 of the pixels of the page that is shown."""
    canvas = page.get_by_role("img", name=label, exact=True)
    expect(canvas).to_be_visible()
    return str(
        canvas.evaluate("""async (canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
          return [...hash].map((each) => each.toString(16).padStart(2, "0")).join("");
        }""")
    )


def hash_drawn(image: Image.Image) -> str:
    return hashlib.sha256(image.convert("RGBA").tobytes()).hexdigest()


def test_pages_are_shown_pixel_by_pixel_and_walked_by_keys(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-01"], "?tag=Hot")
    assert hash_page(page, "Page 1") == hash_drawn(draw_page(1))
    window.look()
    page.keyboard.press("n")
    assert hash_page(page, "Page 2") == hash_drawn(draw_page(2))
    assert page.url.endswith("?tag=Hot&page=2")
    page.keyboard.press("w")
    expect(page.get_by_role("button", name="Fit width")).to_have_attribute("aria-pressed", "true")
    box = page.locator(".sheet").bounding_box()
    page.keyboard.press("r")
    expect(page.locator(".sheet-content")).to_have_attribute("style", re.compile(r"rotate\(90deg\)"))
    turned = page.locator(".sheet").bounding_box()
    assert box
    assert turned
    assert box["height"] > box["width"]
    assert turned["width"] > turned["height"]
    page.keyboard.press("0")
    expect(page.get_by_role("group", name="Size").locator("span")).to_have_text("100 %")
    page.keyboard.press("+")
    expect(page.get_by_text("125 %")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("alert")).to_contain_text("The file is missing")
    expect(page.get_by_role("link", name="VOL-0003 missing")).to_have_attribute("aria-current", "page")
    window.look()
    page.keyboard.press("PageUp")
    expect(page.get_by_role("img", name="Page 2")).to_be_visible()
    page.get_by_label("Page", exact=True).fill("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="Page 1")).to_be_visible()


def test_the_list_of_the_filters_is_walked_and_led_back_to(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-01"], "?tag=Hot&tab=native")
    expect(page.get_by_text("First document")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="V-03 Drawing")).to_be_visible()
    assert page.url.endswith(f"/{documents['V-03']['id']}?tag=Hot&tab=native")
    page.get_by_role("link", name="Next document").click()
    expect(page.get_by_role("heading", name="V-06 Fax")).to_be_visible()
    expect(page.get_by_text("Last document")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="V-03 Drawing")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="V-06")).to_be_visible()
    assert page.url.endswith("/documents?tag=Hot")


def test_a_pdf_that_acts_reaches_nothing_but_its_own_tab(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-01"], "?tab=native")
    addresses: list[str] = []
    dialogs: list[str] = []

    def answer(route: Route) -> None:
        addresses.append(route.request.url)
        route.fulfill(body="left")

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.context.route(f"{TARGET}/**", answer)
    page.context.on("dialog", dismiss)
    here = page.url
    window.look()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the PDF in a new tab").click()
    tab = opened.value
    while not dialogs:
        tab.wait_for_timeout(200)
    assert dialogs == ["from the PDF"]
    assert addresses == []
    while not addresses:
        # The viewer has no event that tells when the page with the link is there.
        tab.mouse.click(700, 400)
        tab.wait_for_timeout(3_000)
    tab.wait_for_url(f"{TARGET}/clicked")
    assert tab.evaluate("[opener, document.referrer]") == [None, ""]
    tab.close()
    assert (page.url, len(page.context.pages)) == (here, 1)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("V-02", "by its first bytes something else"),
        ("V-03", "Files of this type are not shown here"),
        ("V-04", "Files of this type are not shown here"),
        ("V-05", "By its name the file is a PDF document"),
        ("V-10", "Files of this type are not shown here"),
        ("V-11", "The file is empty"),
    ],
)
def test_what_can_run_or_is_not_what_it_says_is_only_downloaded(
    window: Window, documents: dict[str, Any], number: str, said: str
) -> None:
    page = open_document(window, documents[number], "?tab=native")
    expect(page.get_by_text(said)).to_be_visible()
    assert page.locator("main img, main canvas").count() == 0
    if number in {"V-02", "V-03"}:
        window.look()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download").click()
    name = documents[number]["nativePath"]
    assert started.value.suggested_filename == name.rpartition("/")[2]
    assert started.value.path().read_bytes() == build_volume()[name]


def test_what_is_damaged_or_lacking_is_said(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-05"])
    expect(page.get_by_role("alert")).to_contain_text("The file is damaged")
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    window.look()
    page = open_document(window, documents["V-08"])
    expect(page.get_by_role("alert")).to_contain_text("Ask the sender of the volume for it")
    page = open_document(window, documents["V-09"])
    expect(page.get_by_text("There is nothing to look at")).to_be_visible()
    window.look()
    page = open_document(window, documents["V-08"], "?tab=images")
    expect(page.get_by_text("The document has 0 pages")).to_be_visible()
    page = open_document(window, documents["V-01"], "?page=99")
    page.get_by_role("button", name="Go to the last page").click()
    expect(page.get_by_role("alert")).to_contain_text("The file is missing")


def test_natives_that_are_images_are_shown(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-06"])
    expect(page.get_by_text("of 3", exact=True)).to_be_visible()
    page.keyboard.press("End")
    assert hash_page(page, "Page 3 of the native") == hash_drawn(draw_page(3))
    window.look()
    page = open_document(window, documents["V-07"])
    shown = page.get_by_role("img", name="The native")
    expect(shown).to_be_visible()
    assert shown.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [300, 200]


def test_texts_are_read_in_parts_by_their_encoding(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-01"], "?tab=text")
    text = page.get_by_role("region", name="Text")
    expect(text).to_contain_text("Zoë wrote: café")
    assert text.locator(".glyph").all_inner_texts() == ["U+202E", "U+0007"]
    page.get_by_label("Read as").select_option("windows-1252")
    expect(text).to_contain_text("ZoÃ« wrote")
    window.look()
    page = open_document(window, documents["V-04"], "?tab=text")
    expect(page.get_by_text("the browser’s search finds nothing in the rest")).to_be_visible()
    expect(page.get_by_label("Read as")).to_have_value("utf-16le")
    window.look()
    more = page.get_by_role("button", name="Show more of the text")
    while more.count():
        more.click()
        expect(page.get_by_role("button", name="Loading…")).to_have_count(0)
    lines = text.locator("pre").inner_text().splitlines()
    assert (len(lines), set(lines)) == (40_000, {"Line of a long text."})


def test_a_url_that_is_refused_is_signed_anew(window: Window, documents: dict[str, Any]) -> None:
    page = open_document(window, documents["V-09"])
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        if len(refused) > 1:
            route.continue_()
        else:
            route.fulfill(status=403, headers={"Access-Control-Allow-Origin": "*"})

    page.context.route(re.compile(r"/I/1\.tif\?"), refuse)
    open_document(window, documents["V-01"])
    assert hash_page(page, "Page 1") == hash_drawn(draw_page(1))
    assert len(refused) > 1
    assert all("403" in fault for fault in window.faults)
    window.faults.clear()


def test_loading_is_cancelled_and_begun_again(window: Window, documents: dict[str, Any]) -> None:
    page = window.page
    held: list[Route] = []
    page.context.route(re.compile(r"/N/fax\.tif\?"), lambda route: held.append(route))
    open_document(window, documents["V-06"])
    expect(page.get_by_text("Loading Page 1")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("was not loaded")).to_be_visible()
    window.look()
    page.context.unroute_all()
    page.get_by_role("button", name="Load it").click()
    expect(page.get_by_role("img", name="Page 1 of the native")).to_be_visible()


def test_a_viewer_sees_all_of_it(window: Window, documents: dict[str, Any]) -> None:
    become_viewer(window.page)
    page = open_document(window, documents["V-01"])
    expect(page.get_by_role("img", name="Page 1")).to_be_visible()
    expect(page.get_by_role("button", name="Download")).to_be_enabled()
