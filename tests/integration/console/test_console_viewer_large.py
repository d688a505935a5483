"""A TIFF file of 20 MB and 500 pages: each page by itself, without the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from local.stack import LocalStack
from tests.support.console import viewed_files as files
from tests.support.console.browser import Window, open_window
from tests.support.console.imported_cases import import_volume, list_documents

pytestmark = pytest.mark.slow

PAGES, SIZE = 500, 20_000_000
# What is fetched at once of a file.
BLOCK = 512 * 1024
LABEL = "Page {}"


@pytest.fixture(scope="module")
def document(console_stack: LocalStack) -> dict[str, Any]:
    data = files.large_tiff(PAGES, SIZE)
    assert 0.9 * SIZE < len(data) < 1.3 * SIZE
    volume = {
        "DATA/rows.csv": files.build_rows(("L-0001", "Long", "", "N/long.tif", "")),
        "DATA/images.opt": f"L-0001,VOL001,N/long.tif,Y,,,{PAGES}\r\n".encode(),
        "N/long.tif": data,
    }
    import_volume(console_stack, "Long files", volume)
    return list_documents(console_stack, "Long files")["L-0001"]


class Fetched:
    """How much of the file was sent to a window."""

    def __init__(self, page: Page) -> None:
        self.bytes = self.requests = 0
        page.context.on("response", self._add)

    def _add(self, response: Response) -> None:
        if "/N/long.tif?" in response.url and response.request.method == "GET":
            self.requests += 1
            self.bytes += int(response.headers["content-length"])


@pytest.fixture
def window(browser: Browser, console_stack: LocalStack) -> Iterator[Window]:
    with open_window(browser, console_stack.console_url) as window:
        yield window


def show(page: Page, number: int) -> float:
    """Wait until a page is shown, and return for how long."""
    started = time.perf_counter()
    expect(page.get_by_role("img", name=LABEL.format(number), exact=True)).to_be_visible()
    return time.perf_counter() - started


def test_the_first_page_needs_none_of_the_others(window: Window, document: dict[str, Any]) -> None:
    page = window.page
    fetched = Fetched(page)
    started = time.perf_counter()
    page.goto(f"{window.url.partition('#')[0]}cases/{document['caseId']}/documents/{document['id']}")
    show(page, 1)
    print(f"first page after {time.perf_counter() - started:.2f} s, {fetched.bytes:,} bytes", measure_heap(page))
    # The page itself, and the next one that is got before it is needed.
    assert fetched.bytes <= 2 * BLOCK
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    assert 10 < links.count() < 60
    for number in range(2, 8):
        page.keyboard.press("n")
        print(f"page {number} after {show(page, number):.2f} s")
    page.keyboard.press("End")
    print(f"last page after {show(page, PAGES):.2f} s, {fetched.requests} requests", measure_heap(page))
    current = page.get_by_role("navigation", name="Pages").locator("[aria-current]")
    expect(current).to_contain_text("500")
    expect(current).to_be_in_viewport()
    assert page.url.endswith("?page=500")
    # Every block once: the pages before are found by their directories alone.
    assert fetched.bytes <= 1.3 * SIZE + 2 * BLOCK
    window.look()


def test_a_link_opens_its_page(window: Window, document: dict[str, Any]) -> None:
    window.go(f"cases/{document['caseId']}/documents/{document['id']}?page=250")
    show(window.page, 250)
    window.go(f"cases/{document['caseId']}/documents/{document['id']}?tab=native&page=501")
    expect(window.page.get_by_role("alert")).to_contain_text("It has 500 pages.")


def measure_heap(page: Page) -> str:
    """The memory of the scripts of the window, without its worker."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    return f"heap {used['usedSize'] / 1e6:.1f} MB, buffers {used.get('backingStorageSize', 0) / 1e6:.1f} MB"
