"""The panel of a document: what the case has of it, where it came from, and what a link to none says."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.documents import (
    COLUMNS,
    LONG,
    build_wide,
    change,
    edit,
    find_document,
    load_family,
    load_sample,
    open_document,
)
from tests.support.console.matters import HOSTILE_NAMES, find_case, load_file, request

pytestmark = pytest.mark.slow


def test_fields_family_and_history_are_beside_the_list(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Detail of Smith")
    document = find_document(console_stack, case, "D-0002")
    change(console_stack, document["id"], documentDate="2020-02-29", properties={"Notes": LONG.replace("0200", "X")})
    request(console_stack, "POST", "/taggings", {"exhibitIds": [document["id"]], "tags": ["Hot"]})
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        family = panel.locator(".family li")
        expect(family).to_have_text([re.compile("D-0001 Board minutes Q3"), re.compile("D-0002"), re.compile("D-0003")])
        # A day is a day after a correction, too, and long values are folded.
        expect(panel.get_by_text("2020-02-29", exact=True)).to_be_visible()
        expect(panel.get_by_text("word0443")).to_have_count(0)
        panel.get_by_role("button", name="Show all 3,997 characters").click()
        expect(panel.get_by_text("word0443")).to_be_visible()
        panel.get_by_text("History").click()
        entries = panel.locator(".history > li")
        expect(entries).to_have_text(
            [
                re.compile("Tagged by me, .*Hot"),
                re.compile(r"Edited by ben, .*Date:.*2019-12-31 .* 2020-02-29.*Notes: ….*word0199.*X word0201"),
                re.compile("Added by import .*, line 3, by me"),
            ]
        )
        window.look()
        # The keys of the list walk on from the document of the link.
        page.keyboard.press("k")
        expect(panel.get_by_role("heading", name="D-0001")).to_be_focused()
        family.nth(2).get_by_role("link").click()
        expect(panel.get_by_role("heading", name="D-0003")).to_be_focused()
        # The history stays open from document to document.
        expect(entries).to_have_count(1)
        panel.get_by_role("link", name=f"import {document['importId']}").first.click()
        expect(page.get_by_role("heading", name=f"Import {document['importId']}")).to_be_visible()


def test_files_are_listed_with_what_their_volume_lacks(browser: Browser, console_stack: LocalStack) -> None:
    case = load_sample(console_stack, "Files of Smith")
    listed = request(console_stack, "GET", f"/exhibits?caseId={case}")["items"]
    files = {each["id"]: request(console_stack, "GET", f"/exhibits/{each['id']}/files")["items"] for each in listed}
    exhibit_id = next(key for key, items in files.items() if {"stored", "missing"} <= {each["state"] for each in items})
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, exhibit_id)
        panel.locator("summary", has_text="Files").click()
        items = panel.locator(".files > li")
        expect(items).to_have_count(len(files[exhibit_id]))
        expect(panel.get_by_text("missing: its volume does not have it").first).to_be_visible()
        window.look()
        with page.expect_popup() as opened:
            panel.get_by_role("button", name=re.compile("^(Open in a new tab|Download)")).first.click()
        assert "X-Amz-Signature" in opened.value.url or opened.value.url in ("about:blank", ":")
        assert f"open={exhibit_id}" in page.url
        opened.value.close()
        expect(panel.get_by_role("link", name="Open in the viewer")).to_have_attribute(
            "href", re.compile(f"/cases/{case}/documents/{exhibit_id}$")
        )


def test_two_thousand_columns_are_searched_and_hostile_texts_are_text(
    browser: Browser, console_stack: LocalStack
) -> None:
    load_file(console_stack, "Wide", build_wide())
    document = find_document(console_stack, case := find_case(console_stack, "Wide"), "W-1")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        expect(panel.get_by_text(f"Show 200 more of {COLUMNS - 30:,} columns")).to_be_visible()
        panel.get_by_label("Find a column").fill("onerror")
        expect(panel.get_by_text(HOSTILE_NAMES[0]).first).to_be_visible()
        expect(panel.locator("[role=status]").get_by_text("of 2,000")).to_be_visible()
        window.look()
        form = edit(page)
        expect(form.get_by_label("Column 0001")).to_have_value("value 1")
        form.get_by_label("Find a column").fill("column 1950")
        expect(form.get_by_label("Column 1950")).to_be_visible()
        form.get_by_label("Column 1950").fill(HOSTILE_NAMES[1])
        form.get_by_label("Column 0001").wait_for(state="detached")
        form.get_by_label("Add a column").fill("<b>New")
        form.get_by_label("Add a column").press("Enter")
        form.get_by_label("Find a column").fill("<b>new")
        form.get_by_label("<b>New").fill(HOSTILE_NAMES[3])
        assert page.locator("main img, main b").count() == 0
        window.look()
        page.keyboard.press("Control+Enter")
        expect(panel.get_by_role("button", name="Edit")).to_be_visible()
        window.look()
    stored = find_document(console_stack, case, "W-1")["properties"]
    expected = {**document["properties"], "Column 1950": HOSTILE_NAMES[1], "<b>New": HOSTILE_NAMES[3]}
    assert stored == expected


def test_a_link_to_a_document_that_is_not_there_says_so(browser: Browser, console_stack: LocalStack) -> None:
    mine, other = load_family(console_stack, "Linked"), load_family(console_stack, "Elsewhere")
    document = find_document(console_stack, other, "D-0001")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, mine, document["id"])
        expect(panel.get_by_text("This document is in another case: Elsewhere.")).to_be_visible()
        window.look()
        panel.get_by_role("link", name="Open it there").click()
        expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
        expect(panel.get_by_role("button", name="Edit")).to_be_visible()
        panel = open_document(window, mine, 9_999_999)
        expect(panel.get_by_role("heading", name="No such document")).to_be_visible()
        window.look()
        panel.get_by_role("button", name="Back to the documents").click()
        expect(panel).to_have_count(0)
        assert [fault for fault in window.faults if "404" not in fault] == []
        window.faults.clear()


def test_a_viewer_reads_everything_and_edits_nothing(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Detail for viewers")
    document = find_document(console_stack, case, "D-0001")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        panel = open_document(window, case, document["id"])
        expect(panel.get_by_text("Board minutes Q3").first).to_be_visible()
        page.keyboard.press("e")
        expect(panel.locator("form")).to_have_count(0)
        expect(panel.get_by_role("button", name="Edit")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
