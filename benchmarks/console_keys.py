"""A reviewer's way on the page of documents by keys alone: from the filters to a tagged document, each step timed."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from benchmarks.errors import BenchmarkError

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Two names of the large case, which a thousandth of its documents have both.
_CUSTODIAN, _TAG = "tenth together", "hundredth"
_NEW_TAG = "By keys"
_FOCUSED = "document.activeElement.innerText ?? ''"
_FIELD = "[role=combobox]:focus"
_ROW = ".grid-body [role=row] a"
_MOST_TABS = 30


def tag_by_keys(page: Page) -> dict[str, int]:
    """Narrow the list to a custodian and a tag, choose a document, tag it; return the milliseconds of each step.

    It begins anywhere on the page. A step ends when what it leads to is on the page. Raises BenchmarkError if the tab
    key does not come to a filter.
    """
    steps = _Steps(page)
    page.keyboard.press("/")
    _narrow(page, "Custodian", _CUSTODIAN)
    _wait_for_list(page, "custodian")
    steps.end("keys: list of a custodian")
    _narrow(page, "Tag", _TAG)
    _wait_for_list(page, "tag")
    steps.end("keys: and of a tag")
    for key in ("j", "j", "j", "x"):
        page.keyboard.press(key)
    page.locator(".chosen-line").wait_for()
    steps.end("keys: a document chosen")
    page.keyboard.press("t")
    page.locator(_FIELD).wait_for()
    page.keyboard.type(_NEW_TAG)
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_text(f"{_NEW_TAG}: 1 document tagged").wait_for()
    steps.end("keys: it is tagged")
    return steps.describe()


class _Steps:
    """The milliseconds of the steps that have ended, by their names."""

    def __init__(self, page: Page) -> None:
        self.took: dict[str, int] = {}
        self._began = self._last = time.perf_counter()

    def end(self, name: str) -> None:
        now = time.perf_counter()
        self.took[f"{name}, ms"] = round(1000 * (now - self._last))
        self._last = now

    def describe(self) -> dict[str, int]:
        return {**self.took, "keys: all, ms": round(1000 * (self._last - self._began))}


def _narrow(page: Page, menu: str, typed: str) -> None:
    for _ in range(_MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(_FOCUSED).startswith(menu):
            break
    else:
        raise BenchmarkError(f"the tab key does not come to the filter {menu}")
    page.keyboard.press("Enter")
    page.locator(_FIELD).wait_for()
    page.keyboard.type(typed)
    page.keyboard.press("Enter")


def _wait_for_list(page: Page, filter_name: str) -> None:
    # The list of the filters before is gone once the new ones are in the address.
    page.wait_for_url(re.compile(f"[?&]{filter_name}="))
    page.wait_for_selector(_ROW)
