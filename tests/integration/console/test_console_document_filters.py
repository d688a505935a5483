"""Filters of the documents: each in the address, with a link that takes it away, and a way out of every refusal."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from core.pagination import encode_cursor
from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.document_rows import choose
from tests.support.console.document_steps import chips, narrow, open_tag_dialog, tag_by_keys
from tests.support.console.matters import HOSTILE_NAMES, build_file, find_case, load_file, quote

pytestmark = pytest.mark.slow

CASE = "Filters of Smith"
HEADER = "Control Number,Title,Custodian,Tags,Date Sent,Bates Begin,Bates End,Confidentiality"
ROWS = (
    "F-1,Board minutes,Ada,Issue\\Damages,2019-12-31,SMITH0000001,SMITH0000003,AEO",
    "F-2,Budget,Ada,Hot,2020-01-01,SMITH0000004,SMITH0000004,",
    "F-3,Letter,Ben,,2020-02-01,SMITH0000005,SMITH0000009,",
)


@pytest.fixture(scope="module")
def case_id(console_stack: LocalStack) -> int:
    load_file(console_stack, CASE, build_file(*ROWS, header=HEADER))
    return find_case(console_stack, CASE)


@pytest.fixture(scope="module")
def hostile(console_stack: LocalStack) -> int:
    """The id of a case whose custodians and tags have hostile names, one of them as long as a name can be."""
    names = [*HOSTILE_NAMES[:3], "y" * 255]
    rows = [f"H-{number},{','.join(map(quote, [name] * 3))}" for number, name in enumerate(names, start=1)]
    load_file(console_stack, "Hostile filters", build_file(*rows))
    return find_case(console_stack, "Hostile filters")


def fill(page: Page, menu: str, **values: str) -> None:
    """Fill the fields of a menu, by their labels, and apply them."""
    page.locator("summary", has_text=menu).click()
    for label, value in values.items():
        field = page.locator(".menu-panel").get_by_label(label.replace("_", " "), exact=True)
        field.select_option(value) if field.evaluate("each => each.tagName") == "SELECT" else field.fill(value)
    page.keyboard.press("Enter") if menu != "Files" else page.get_by_role("button", name="Apply").click()


def test_filters_of_every_menu_narrow_together_and_come_off_one_by_one(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents")
        narrow(page, "Custodian", "ada")
        page.locator("summary", has_text="Tag").click()
        page.get_by_role("option", name="Issue and all in it").click()
        fill(page, "Date", First_day="2019-12-01", Last_day="2019-12-31")
        fill(page, "Bates", Bates_number="SMITH2")
        fill(page, "Files", Native="false", Images="false")
        fill(page, "More", Confidentiality="AEO", Family_of_the_control_number="F-1")
        expect(page.get_by_role("main").get_by_text("F-1", exact=True).first).to_be_visible()
        expect(page.get_by_role("main").get_by_text("1 document", exact=True).first).to_be_visible()
        named = ["custodian Ada", "tag Issue and all in it", "dated from 2019-12-01", "dated to 2019-12-31"]
        named += ["Bates number SMITH2", "without native", "without images", "confidentiality AEO", "family of F-1"]
        assert sorted(chips(page, len(named))) == sorted(named)
        window.look()
        page.reload()
        page.wait_for_selector(".chips li")
        assert sorted(chips(page, len(named))) == sorted(named)
        for left in range(len(named), 0, -1):
            expect(page.locator(".chips li")).to_have_count(left)
            page.get_by_role("link", name="Take away the filter").first.click()
        expect(page.get_by_role("main").get_by_text("3 documents", exact=True).first).to_be_visible()
        fill(page, "Bates", or_from="SMITH9", to="JONES10")
        expect(page.get_by_text("Both numbers need the same prefix.")).to_be_visible()
        window.look()


def test_an_empty_list_says_which_filter_excludes_the_most(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?custodian=Ada&dateFrom=2020-02-01&tag=Nothing")
        excluded = page.get_by_role("list", name="Without one of the filters").get_by_role("listitem")
        expect(excluded).to_have_count(3)
        window.go(f"cases/{case_id}/documents?custodian=Ada&dateFrom=2020-02-01")
        expect(excluded.first).to_have_text("Without the filter “dated from 2020-02-01”: 2 documents")
        expect(excluded.last).to_have_text("Without the filter “custodian Ada”: 1 document")
        window.look()
        excluded.first.get_by_role("link").click()
        assert chips(page, 1) == ["custodian Ada"]


def test_a_search_goes_on_by_itself_and_says_how_far_it_is(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    """The API's first page is replaced by one that has found nothing yet; the page after it is held back."""
    held: list[Route] = []

    def search(route: Route) -> None:
        if "count=true" in route.request.url:
            route.continue_()
        elif "after=" in route.request.url:
            held.append(route)
        else:
            page_of_none: dict[str, object] = {
                "items": [],
                "next": encode_cursor("F-1"),
                "prev": None,
                "searched": 1,
                "total": None,
            }
            route.fulfill(json={**page_of_none, "totalIsLowerBound": False})

    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.route(lambda url: "/exhibits?" in url and "hasNative" in url, search)
        window.go(f"cases/{case_id}/documents?hasNative=false")
        expect(page.get_by_text("Looked at 1 of about 3 documents")).to_be_visible()
        window.look()
        held[0].continue_()
        expect(page.get_by_role("main").get_by_text("F-2", exact=True).first).to_be_visible()
        expect(page.get_by_text("Looked at")).to_have_count(0)
        assert chips(page, 1) == ["without native"]


def test_hostile_names_are_text_in_every_list_and_chip(
    browser: Browser, console_stack: LocalStack, hostile: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{hostile}/documents")
        for menu in ("Custodian", "Tag"):
            page.locator("summary", has_text=menu).click()
            expect(page.get_by_role("option")).to_have_count(4)
            expect(page.get_by_role("option", name="<img src=x")).to_be_visible()
            expect(page.get_by_role("option", name="U+202E")).to_be_visible()
            window.look()
            page.keyboard.press("Escape")
        for typed in ("<img", "exe.", "yyy"):
            narrow(page, "Custodian", typed)
        narrow(page, "Tag", "=HYPER")
        expect(page.get_by_role("heading", name="No document matches")).to_be_visible()
        assert len(chips(page, 4)) == 4
        window.look()
        window.go(f"cases/{hostile}/documents")
        choose(page, "H-1")
        open_tag_dialog(page)
        page.keyboard.insert_text("<b>new\u202e")
        expect(page.get_by_role("alert")).to_contain_text("remove U+202E")
        window.look()
        page.keyboard.press("Escape")
        tag_by_keys(page, f"<b>{'y' * 252}")
        expect(page.get_by_role("main").get_by_text("1 document tagged")).to_be_visible()
        window.look()
        open_tag_dialog(page)
        page.keyboard.type("Hot\\")
        expect(page.get_by_role("alert")).to_contain_text("Between two")
        window.look()
        assert page.locator("main :is(img, b, script)").count() == 0
