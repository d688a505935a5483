"""Steps of a reviewer on the page of documents: narrow the list, choose documents, tag and export them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import urllib3
from playwright.sync_api import Locator, Page, expect

from local.stack import LocalStack
from tests.support.console.matters import request


def narrow(page: Page, menu: str, typed: str) -> None:
    """Take the first custodian or tag that has the typed words, by keys; the focus is then on the menu's button."""
    button = page.locator("summary", has_text=menu)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details.menu[open]").get_by_role("combobox")).to_be_focused()
    page.keyboard.type(typed)
    page.keyboard.press("Enter")
    expect(page.locator("details.menu[open]")).to_have_count(0)
    expect(button).to_be_focused()


def open_tag_dialog(page: Page) -> None:
    """Press the key that tags the chosen documents; what is typed then is the tag."""
    page.keyboard.press("t")
    expect(page.get_by_role("combobox", name="Tag")).to_be_focused()


def tag_by_keys(page: Page, typed: str) -> None:
    """Give the chosen documents the tag that is typed, or the first that has the words, by keys alone."""
    open_tag_dialog(page)
    page.keyboard.type(typed)
    page.keyboard.press("Enter")


def chips(page: Page, count: int) -> list[str]:
    """The filters in words, as they stand below the fields, when there are so many."""
    words = page.locator(".chips li > span")
    expect(words).to_have_count(count)
    return [each.strip() for each in words.all_inner_texts()]


def line_of(page: Page, words: str) -> Locator:
    """The line of a tagging job or an export."""
    return page.get_by_role("region", name="Tagging and exports").get_by_role("listitem").filter(has_text=words)


def list_tagged(stack: LocalStack, case_id: int, tag: str) -> list[str]:
    """The control numbers of the documents that have a tag, as the API lists them."""
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        page = request(stack, "GET", f"/exhibits?caseId={case_id}&limit=500&tag={quote(tag)}{after}")
        found += page["items"]
        if page["next"] is None:
            return [each["controlNumber"] for each in found]
        after = f"&after={quote(page['next'])}"


def export_past_the_page(stack: LocalStack, wish: dict[str, Any]) -> bytes:
    """The bytes of an export that is requested of the API, once it is written."""
    made = request(stack, "POST", "/exports", wish)
    stack.wait_until_idle()
    file = request(stack, "GET", f"/exports/{made['id']}/file")
    return bytes(urllib3.request("GET", file["url"]).data)


def refusal(status: int, code: str, detail: str) -> dict[str, Any]:
    """The response of the API to a request that it refuses, for `Route.fulfill`."""
    problem = {"type": f"urn:exhibit-ingest:{code}", "title": code, "status": status, "detail": detail}
    return {"status": status, "content_type": "application/problem+json", "body": json.dumps(problem)}
