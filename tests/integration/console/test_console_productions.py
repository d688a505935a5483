"""A production is drafted, checked, requested and followed by the page; a viewer sees it and changes nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.matters import find_case, load_file, request
from tests.support.console.productions import WHOLE, find_production, load_case, produce

DOCUMENTS, PAGES = len(WHOLE.documents), WHOLE.pages
PRODUCE = re.compile("^Produce ")


def choose_tag(page: Page, label: str, tag: str) -> None:
    """Add a tag to the filters of a draft."""
    page.get_by_label(label, exact=True).fill(tag)
    page.get_by_role("button", name=f"Add {label.lower()}").click()


def test_a_draft_of_an_empty_case_says_what_it_needs(browser: Browser, console_stack: LocalStack) -> None:
    case_id = request(console_stack, "POST", "/cases", {"name": "Nothing to produce"})["id"]
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/productions")
        page.get_by_role("link", name="New production").click()
        expect(page.get_by_text("Choose the documents: a tag")).to_be_visible()
        page.get_by_label("The whole case: 0 documents").check()
        page.get_by_label("Prefix").fill("SMITH")
        expect(page.get_by_role("alert")).to_contain_text("No document matches")
        assert [fault for fault in window.faults if "400" not in fault] == []
        window.faults.clear()


@pytest.mark.slow
def test_documents_are_drafted_checked_and_produced(browser: Browser, console_stack: LocalStack) -> None:
    case = "Produced by the page"
    case_id = load_case(console_stack, case)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/productions")
        expect(page.get_by_text("Nothing has been produced from this case yet.")).to_be_visible()
        window.look()
        page.get_by_role("link", name="New production").click()
        expect(page.get_by_text("Choose the documents: a tag")).to_be_visible()
        page.get_by_label(f"The whole case: {DOCUMENTS} documents").check()
        expect(page.get_by_text("Enter the prefix of the Bates numbers")).to_be_visible()
        window.look()
        page.get_by_label("Prefix").fill("SMITH")
        button = page.get_by_role("button", name=PRODUCE)
        expected = f"Produce {DOCUMENTS} documents as SMITH0000001 to SMITH{PAGES:07} (expected)"
        expect(button).to_have_text(expected)
        expect(button).to_be_enabled()
        window.look()
        # The draft is in the address, and nothing is reserved.
        page.wait_for_url(re.compile(r"\?all=1&prefix=SMITH$"))
        page.reload()
        expect(button).to_have_text(expected)
        expect(button).to_be_enabled()
        assert request(console_stack, "GET", f"/productions?caseId={case_id}")["items"] == []
        button.click()
        expect(page.get_by_role("main").get_by_text("The volume VOL001 is complete")).to_be_visible()
        made = request(console_stack, "GET", f"/productions/{find_production(page)}")
        assert (made["firstBates"], made["lastBates"]) == ("SMITH0000001", f"SMITH{PAGES:07}")
        steps = page.get_by_role("region", name="Steps").get_by_role("listitem")
        expect(steps).to_have_text([re.compile("done")] * 5)
        expect(page.get_by_role("region", name="Documents of the production").get_by_role("row")).to_have_count(
            DOCUMENTS + 1
        )
        window.look()
        page.get_by_role("link", name="Numbers").click()
        expect(page.get_by_text(f"SMITH{PAGES + 1:07}")).to_be_visible()
        window.look()
        page.get_by_role("link", name="Files").click()
        expect(page.get_by_role("link", name="MANIFEST.csv")).to_be_visible()
        window.look()
        page.get_by_role("link", name=case).click()
        expect(page.get_by_role("cell", name=re.compile(f"SMITH0000001.*SMITH{PAGES:07}"))).to_be_visible()
        window.look()


@pytest.mark.slow
def test_what_refuses_a_draft_is_shown_with_its_documents_and_lifted(
    browser: Browser, console_stack: LocalStack
) -> None:
    case = "Refused drafts"
    rows = "Control Number,Native Link,Tags,Parent\nR-1,gone.docx,Hot,\nR-2,,Hot;Privileged,\nR-3,,Hot,\nR-4,,,R-3\n"
    load_file(console_stack, case, rows, options={"multiValueSeparator": ";"})
    case_id = find_case(console_stack, case)
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"cases/{case_id}/productions/new?tag=Hot&prefix=R-&numbering=document")
        refused = page.get_by_role("listitem").filter(has_text="FILE_MISSING")
        expect(refused).to_contain_text("Refused · 1 document: files are missing")
        expect(refused.get_by_role("link", name="R-1")).to_have_attribute("href", re.compile("documents.open="))
        expect(page.get_by_role("button", name=PRODUCE)).to_be_disabled()
        window.look()
        page.get_by_role("button", name="Include their families").click()
        expect(page.get_by_role("button", name=PRODUCE)).to_have_text("Produce 4 documents as R-0000001 to R-0000004")
        page.get_by_role("button", name="Leave out documents tagged Privileged").click()
        expect(page.get_by_role("button", name=PRODUCE)).to_have_text("Produce 3 documents as R-0000001 to R-0000003")
        page.get_by_role("button", name="Remove tag Hot").click()
        choose_tag(page, "Tag", "No such tag")
        expect(page.get_by_role("alert")).to_contain_text("No document matches")
        window.look()
        assert [fault for fault in window.faults if "400" not in fault] == []
        window.faults.clear()
        page.get_by_label("Documents by their control numbers").check()
        page.get_by_label("Control numbers, one on each line").fill("R-3\nR-4\n")
        button = page.get_by_role("button", name=PRODUCE)
        expect(button).to_have_text("Produce 2 documents as R-0000001 to R-0000002")
        page.get_by_label("First number").fill("41")
        page.get_by_label("Digits").fill("4")
        expect(button).to_have_text("Produce 2 documents as R-0041 to R-0042")
        page.get_by_label("Prefix").fill("R-9")
        expect(page.get_by_text("does not end in a digit").first).to_be_visible()


@pytest.mark.slow
def test_a_viewer_checks_and_follows_and_changes_nothing(browser: Browser, console_stack: LocalStack) -> None:
    case = "Productions of viewers"
    case_id = load_case(console_stack, case)
    made = produce(console_stack, case, "VIEW")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        window.go(f"cases/{case_id}/productions")
        expect(page.get_by_role("link", name=f"Production {made['id']}")).to_be_visible()
        expect(page.get_by_role("link", name="New production")).to_have_count(0)
        window.go(f"cases/{case_id}/productions/new?all=1&prefix=VIEW")
        expect(page.get_by_text("Producing requires the role editor")).to_be_visible()
        expect(page.get_by_text(f"The next number is VIEW{PAGES + 1:07}")).to_be_visible()
        expect(page.get_by_role("button", name=PRODUCE)).to_have_count(0)
        window.look()
        window.go(f"productions/{made['id']}")
        expect(page.get_by_role("main").get_by_text("The volume VOL001 is complete")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Cancel|Go on"))).to_have_count(0)
        window.look()
        window.go("productions/999999")
        expect(page.get_by_role("alert")).to_contain_text("This was not found")
        window.look()
        assert [fault for fault in window.faults if "404" not in fault] == []
        window.faults.clear()
