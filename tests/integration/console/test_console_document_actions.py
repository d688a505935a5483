"""Documents are narrowed, chosen, tagged and exported: by keyboard, by hand, and all that match but for some."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.document_rows import choose, choose_all, leave_out
from tests.support.console.document_steps import (
    chips,
    export_past_the_page,
    line_of,
    list_tagged,
    narrow,
    refusal,
    tag_by_keys,
)
from tests.support.console.matters import build_file, find_case, load_file, request

pytestmark = pytest.mark.slow

CASE, COUNT = "Actions of Smith", 1_000
PEOPLE = ("Ada Lovelace", "Ben Franklin", '"Hopper, Grace"')
TAGS = ("", "Hot", "Issue\\Damages", "Privileged")
ACTIONS = "Actions for the chosen documents"


@pytest.fixture(scope="module")
def case_id(console_stack: LocalStack) -> int:
    rows = (f"D-{n:04},Minutes {n},{PEOPLE[n % 3]},{TAGS[n % 4]}" for n in range(1, COUNT + 1))
    load_file(console_stack, CASE, build_file(*rows))
    return find_case(console_stack, CASE)


def test_a_document_is_tagged_by_keyboard_alone_among_1000(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents")
        narrow(page, "Custodian", "hopper")
        narrow(page, "Tag", "hot")
        assert page.url.endswith("?custodian=Hopper%2C+Grace&tag=Hot")
        assert chips(page, 2) == ["custodian Hopper, Grace", "tag Hot"]
        choose(page, "D-0017", by_keys=True)
        tag_by_keys(page, "Keyboard\\One")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("main").get_by_text("Keyboard\\One: 1 document tagged")).to_be_visible()
        window.look()
        expect(page.get_by_role("grid", name="Documents")).to_be_focused()
        # Again, as one that is there: the rows show it, and the selection is still there.
        tag_by_keys(page, "one")
        expect(page.get_by_role("main").get_by_text("0 documents tagged; 1 had it already")).to_be_visible()
        assert list_tagged(console_stack, case_id, "Keyboard\\One") == ["D-0017"]


def test_all_that_match_but_one_are_tagged_and_the_job_survives_a_reload(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?tag=Privileged")
        choose_all(page)
        leave_out(page, "D-0003")
        tag_by_keys(page, "Withheld")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("without the 1 that you left out")).to_be_visible()
        window.look()
        is_held = True

        def hold(route: Route) -> None:
            answer = route.fetch()
            jobs = answer.json()
            for each in jobs["items"] if is_held else ():
                each.update(status="running", tagged=100)
            route.fulfill(response=answer, body=json.dumps(jobs))

        page.route("**/tagging-jobs?**", hold)
        expect(dialog.get_by_role("button", name="Tag 249 documents")).to_be_focused()
        page.keyboard.press("Enter")
        expect(line_of(page, "Withheld")).to_contain_text("100 of 249 documents")
        window.look()
        page.reload()
        expect(line_of(page, "Withheld").get_by_role("button", name="Cancel")).to_be_visible()
        is_held = False
        expect(line_of(page, "Withheld")).to_contain_text("249 documents tagged")
        expected = [f"D-{n:04}" for n in range(7, COUNT + 1, 4)]
        assert list_tagged(console_stack, case_id, "Withheld") == expected
        page.unroute("**/tagging-jobs?**")
        page.reload()
        page.get_by_text("Earlier tagging and exports").click()
        expect(line_of(page, "Withheld")).to_contain_text("249 documents tagged")
        window.look()


def test_an_export_is_byte_for_byte_what_the_api_gives(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?custodian=Hopper%2C+Grace&tag=Hot")
        choose_all(page)
        leave_out(page, "D-0005")
        page.get_by_role("group", name=ACTIONS).get_by_role("button", name="Export").click()
        page.get_by_text("JSON lines").click()
        window.look()
        page.get_by_role("button", name="Export", exact=True).click()
        with page.expect_download() as downloaded:
            line_of(page, "Export of documents").get_by_role("button", name="Download").click()
        left_out = request(console_stack, "GET", f"/exhibits?caseId={case_id}&controlNumber=D-0005")["items"][0]["id"]
        filters = {"custodian": ["Hopper, Grace"], "tag": ["Hot"], "exceptIds": [left_out]}
        wish = {"caseId": case_id, "kind": "documents", "format": "jsonl", "filters": filters}
        data = downloaded.value.path().read_bytes()
        assert data == export_past_the_page(console_stack, wish)
        assert len(data.splitlines()) == 82
        assert downloaded.value.suggested_filename.endswith(".jsonl")
        line_of(page, "Export of documents").get_by_role("link", name="82 documents").click()
        assert chips(page, 3)[2:] == ["without 1 document that you left out"]


def test_what_a_request_refuses_is_said_and_sent_again_under_its_key(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    keys: list[str] = []

    def refuse_once(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fulfill(**refusal(404, "not-found", "The exhibit 12 does not exist."))
        else:
            route.continue_()

    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents")
        page.route("**/taggings", refuse_once)
        choose(page, "D-0001", "D-0002")
        tag_by_keys(page, "Refused once")
        expect(page.get_by_role("main").get_by_text("2 documents are not done.")).to_be_visible()
        window.look()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("main").get_by_text("Refused once: 2 documents tagged")).to_be_visible()
        assert len(keys) == 2
        assert len(set(keys)) == 1
        page.get_by_role("button", name="Remove tag").click()
        expect(page.get_by_role("combobox", name="Tag")).to_be_focused()
        page.keyboard.type("refused")
        page.keyboard.press("Enter")
        expect(page.get_by_role("main").get_by_text("Refused once: removed from 2 documents")).to_be_visible()
        assert list_tagged(console_stack, case_id, "Refused once") == []
        take_404(window.faults)


def take_404(faults: list[str]) -> None:
    assert faults, "the browser logs what is refused"
    assert [each for each in faults if "404" not in each] == []
    faults.clear()


def test_a_selection_is_handed_to_a_new_production_or_tagged_first(
    browser: Browser, console_stack: LocalStack, case_id: int
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/documents?tag=Hot")
        choose_all(page)
        leave_out(page, "D-0001")
        produce(page)
        expect(page.get_by_role("dialog", name="Tag them first")).to_be_visible()
        window.look()
        page.keyboard.press("Escape")
        page.reload()
        choose_all(page)
        produce(page)
        page.wait_for_url(f"**/cases/{case_id}/productions/new?tag=Hot")


def produce(page: Page) -> None:
    page.get_by_role("group", name=ACTIONS).get_by_role("button", name="Produce").click()


def test_a_viewer_exports_and_changes_nothing(browser: Browser, console_stack: LocalStack, case_id: int) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        window.go(f"cases/{case_id}/documents")
        choose(page, "D-0001")
        group = page.get_by_role("group", name=ACTIONS)
        expect(group.get_by_role("button")).to_have_text(["Export…"])
        page.keyboard.press("t")
        expect(page.get_by_role("dialog")).to_have_count(0)
        window.look()
        group.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="Export", exact=True).click()
        expect(line_of(page, "1 document").get_by_role("button", name="Download").first).to_be_visible()
