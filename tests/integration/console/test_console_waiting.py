"""A page that waits, or whose request fails, says so under its heading, and goes on by itself when it can."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, open_window
from tests.support.console.matters import build_file, find_case, load_file

pytestmark = pytest.mark.slow

CASE = "Waited for"
# What the pages read, without who the user is.
READS = re.compile(r"/(cases|imports|exhibits|volumes|custodians|tags|devices|activities)(/[^/]*)*(\?|$)")
AWAY = "No connection to the server"


@pytest.fixture(scope="module")
def pages(console_stack: LocalStack) -> dict[str, str]:
    """Each page with its heading before there is any data."""
    rows = build_file("W-1,One,Ada,", ",No id,Ada,")
    imported, held = load_file(console_stack, CASE, rows), load_file(console_stack, CASE, rows, "held.csv", hold=True)
    case = find_case(console_stack, CASE)
    return {
        "": "Cases",
        f"cases/{case}/imports": "Case",
        f"cases/{case}/documents": "Case",
        f"imports/{imported}": f"Import {imported}",
        f"imports/{imported}/fix": f"Fix import {imported}",
        f"import/{held}": "Import files",
        "custody": "Custody",
        "custody/1": "Device 1",
        "activity": "Activity",
    }


def visit(window: Window, pages: dict[str, str], answer: Callable[[Route], None], words: str) -> None:
    """Open each page while its reads are answered like this, and expect the words under its heading."""
    page = window.page
    page.route(lambda url: "/console/" not in url and bool(READS.search(url)), answer)
    for path, heading in pages.items():
        page.goto(f"{window.url.partition('#')[0]}{path}")
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        expect(page.get_by_role("main").get_by_text(words).first).to_be_visible()
        window.look()
    page.unroute_all()


def test_each_page_waits_under_its_heading(browser: Browser, console_stack: LocalStack, pages: dict[str, str]) -> None:
    with open_window(browser, console_stack.console_url) as window:
        visit(window, pages, lambda _: None, "The server takes longer than usual.")


def test_each_page_names_what_the_server_refuses(
    browser: Browser, console_stack: LocalStack, pages: dict[str, str]
) -> None:
    problem = {
        "type": "urn:exhibit-ingest:problem:not-found",
        "title": "?",
        "detail": "Nothing; GET /imports lists yours.",
    }
    with open_window(browser, console_stack.console_url) as window:
        visit(window, pages, lambda route: route.fulfill(status=404, json=problem), "Check the address")
        assert {fault for fault in window.faults if "404" not in fault} == set()
        window.faults.clear()


def test_a_page_goes_on_by_itself_when_the_server_answers_again(
    browser: Browser, console_stack: LocalStack, pages: dict[str, str]
) -> None:
    documents = f"cases/{find_case(console_stack, CASE)}/documents"
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        for path, words in ((documents, "W-1"), ("", CASE)):
            page.route(READS, lambda route: route.abort() if "/console/" not in route.request.url else route.fallback())
            page.goto(f"{window.url.partition('#')[0]}{path}")
            expect(page.get_by_text(AWAY)).to_be_visible()
            expect(page.get_by_text("The page tries again by itself.").first).to_be_visible()
            window.look()
            page.unroute_all()
            expect(page.get_by_role("link", name=words).first).to_be_visible()
            expect(page.get_by_text(AWAY)).to_have_count(0)
        assert {fault for fault in window.faults if "net::ERR_FAILED" not in fault} == set()
        window.faults.clear()


def test_the_sign_in_goes_on_by_itself_when_the_server_answers_again(
    browser: Browser, console_stack: LocalStack
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.route("**/console/config.json", lambda route: route.abort())
        page.reload()
        expect(page.get_by_text("The server does not answer. Check the connection")).to_be_visible()
        window.look()
        page.unroute_all()
        expect(page.get_by_text("me · admin")).to_be_visible()
        expect(page.get_by_text(AWAY)).to_have_count(0)
        assert {fault for fault in window.faults if "net::ERR_FAILED" not in fault} == set()
        window.faults.clear()
