"""Editing a document in its panel: nothing typed is lost, and nothing that others wrote is overwritten unseen."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, accept_dialogs, open_window
from tests.support.console.documents import (
    LONG,
    change,
    edit,
    find_document,
    load_family,
    open_document,
)
from tests.support.console.matters import request

pytestmark = pytest.mark.slow

CONFLICT = "Others have changed the same values"


def is_saved(page: Page) -> None:
    """Wait until the form has ended with everything saved."""
    expect(page.get_by_role("complementary").get_by_role("button", name="Edit")).to_be_visible()
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_be_focused()


def expect_faults(window: Window, *statuses: int) -> None:
    """Take answers of these kinds off the list of faults, and lost ones; fail for another one."""
    known = ("Failed to load resource: net", *(f"status of {status}" for status in statuses))
    assert [fault for fault in window.faults if not any(each in fault for each in known)] == []
    window.faults.clear()


def test_every_kind_of_value_is_edited_by_keyboard_and_is_in_the_history(
    browser: Browser, console_stack: LocalStack
) -> None:
    case = load_family(console_stack, "Edits of Smith")
    document = find_document(console_stack, case, "D-0001")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        expect(panel.get_by_role("button", name="Edit")).to_be_visible()
        page.keyboard.press("e")
        form = page.get_by_role("form", name="Edit the document")
        expect(form.get_by_label("Title")).to_be_focused()
        expect(form.get_by_role("button", name="Save 0 changes")).to_be_disabled()
        form.get_by_label("Title").fill("Minutes, corrected")
        form.get_by_label("Date", exact=True).fill("31.12.2019")
        form.get_by_label("Bates, last").fill("")
        form.get_by_role("button", name="Remove Ben").click()
        form.get_by_label("Add a tag").fill("Privileged")
        form.get_by_label("Reviewer").fill(LONG)
        expect(form.locator(".changes")).to_contain_text("What changes: 6 values")
        # What is wrong is said beside it, and holds everything.
        page.keyboard.press("Control+Enter")
        expect(form.get_by_label("Date", exact=True)).to_be_focused()
        expect(form.get_by_text("Write a date as 2019-12-31")).to_be_visible()
        window.look()
        form.get_by_label("Date", exact=True).fill("2020-01-01")
        form.get_by_label("Date", exact=True).press("Control+Enter")
        is_saved(page)
        expect(panel.get_by_text("Minutes, corrected").first).to_be_visible()
        panel.get_by_text("History").click()
        expect(panel.locator(".history")).to_contain_text("Minutes, corrected")
        window.look()
    stored = find_document(console_stack, case, "D-0001")
    assert (stored["title"], stored["documentDate"]) == ("Minutes, corrected", "2020-01-01T00:00:00")
    assert stored["datePrecision"] == {**document["datePrecision"], "document_date": "day"}
    assert (stored["batesEnd"], stored["custodians"], stored["tags"]) == (None, ["Ada"], ["Hot", "Privileged"])
    assert stored["properties"] == {**document["properties"], "Reviewer": LONG}


def test_what_a_second_writer_has_changed_is_shown_side_by_side(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Two writers")
    document = find_document(console_stack, case, "D-0002")
    mine, theirs = LONG.replace("word0200", "mine"), LONG.replace("word0201", "theirs")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        form = edit(page)
        form.get_by_label("Title").fill("budget, mine")
        form.get_by_label("Notes").fill(mine)
        form.get_by_label("File name").fill("mine.xlsx")
        change(console_stack, document["id"], title="budget, theirs", properties={"Notes": theirs}, confidentiality="X")
        page.keyboard.press("Control+Enter")
        expect(panel.get_by_role("heading", name=CONFLICT)).to_be_focused()
        title, notes = panel.get_by_role("group", name="Title"), panel.get_by_role("group", name="Notes")
        expect(title).to_contain_text("by ben")
        expect(notes).to_contain_text(re.compile("word0199 .*mine .*word0200 .*theirs"))
        expect(panel.get_by_text("Also changed, and not by you: Confidentiality")).to_be_visible()
        expect(panel.get_by_text("Choose for 2 values.")).to_be_visible()
        window.look()
        title.get_by_label("Yours").check()
        notes.get_by_label("In the case now").check()
        # A third writer, after the choice: what was chosen against another version is chosen again.
        change(console_stack, document["id"], title="budget, third")
        panel.get_by_role("button", name="Save over version 3").click()
        expect(title).to_contain_text("budget, third")
        panel.get_by_role("button", name="Back to the form").click()
        expect(form.get_by_label("Title")).to_have_value("budget, mine")
        expect(form.get_by_text("The document was changed since you began.")).to_be_visible()
        page.get_by_role("button", name="Save 2 changes").click()
        title.get_by_label("Yours").check()
        panel.get_by_role("button", name="Save over version 4").click()
        is_saved(page)
        expect_faults(window, 412)
    stored = find_document(console_stack, case, "D-0002")
    assert (stored["title"], stored["fileName"], stored["confidentiality"]) == ("budget, mine", "mine.xlsx", "X")
    assert (stored["properties"]["Notes"], stored["version"]) == (theirs, 5)


def test_a_lost_answer_and_an_ended_session_save_once(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Lost answers")
    document = find_document(console_stack, case, "D-0001")
    expired = f"Bearer {console_stack.tokens.issue('local', 'me', -1)}"
    sent = Counter[str]()

    def spoil(route: Route) -> None:
        """The answer to the change is lost after it took effect, and the session has ended when the tag is added."""
        sent[route.request.method] += 1
        if route.request.method == "PATCH" and sent["PATCH"] == 1:
            route.fetch()
            return route.abort()
        headers = route.request.headers
        is_first = route.request.method == "POST" and sent["POST"] == 1
        return route.continue_(headers={**headers, "authorization": expired} if is_first else None)

    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        form = edit(page)
        form.get_by_label("Title").fill("Saved once")
        form.get_by_label("Add a tag").fill("Once")
        form.get_by_label("Add a tag").press("Enter")
        page.route(re.compile(rf"/exhibits/{document['id']}$|/taggings$"), spoil)
        page.get_by_role("button", name="Save 2 changes").click()
        page.get_by_role("button", name="Sign in again").click()
        is_saved(page)
        expect(panel.get_by_text("Saved once").first).to_be_visible()
        expect_faults(window, 401)
    history = request(console_stack, "GET", f"/exhibits/{document['id']}/changes")["items"]
    assert [each["action"] for each in history] == ["tagged", "edited", "imported"]
    assert (sent["PATCH"], sent["POST"]) == (2, 2)


def test_an_undo_takes_the_document_away_while_it_is_edited(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Undone while open")
    document = find_document(console_stack, case, "D-0004")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        form = edit(page)
        form.get_by_label("Title").fill("Typed for nothing")
        request(console_stack, "POST", f"/imports/{document['importId']}/undo", {"dryRun": False})
        console_stack.wait_until_idle()
        page.keyboard.press("Control+Enter")
        expect(panel.get_by_text("D-0004 was removed from the case while it was open")).to_be_visible()
        expect(panel.get_by_text("Typed for nothing")).to_be_visible()
        window.look()
        panel.get_by_role("button", name="Drop what I have entered").click()
        expect(panel.get_by_text("Typed for nothing")).to_have_count(0)
        panel.get_by_role("link", name="Imports of the case").click()
        expect(page.get_by_text("undone").first).to_be_visible()
        expect_faults(window, 404)


def test_what_is_typed_survives_walking_away_and_is_asked_about(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Typed and left")
    document = find_document(console_stack, case, "D-0001")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        panel = open_document(window, case, document["id"])
        form = edit(page)
        form.get_by_label("Title").fill("Not saved yet")
        # Another document, opened beside the list: the first one is named there.
        page.get_by_role("grid").get_by_role("link", name="D-0003").click()
        expect(panel.get_by_role("heading", name="D-0003")).to_be_visible()
        window.look()
        page.locator("p.notice", has_text="Not saved yet:").get_by_role("link", name="D-0001").click()
        expect(form.get_by_label("Title")).to_have_value("Not saved yet")
        form.get_by_label("Title").press("Escape")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Not saved yet")
        window.look()
        dialog.get_by_role("button", name="Go on editing").click()
        page.get_by_role("navigation", name="Case").get_by_role("link", name="Imports").click()
        dialog.get_by_role("button", name="Leave, and save them later").click()
        expect(page.get_by_role("region", name="Imports")).to_be_visible()
        page.go_back()
        expect(form.get_by_label("Title")).to_have_value("Not saved yet")
        assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").find("Not saved") == -1
        questions = accept_dialogs(page)
        page.reload()
        expect(panel.get_by_role("button", name="Edit")).to_be_visible()
        assert questions == ["beforeunload"]
    assert find_document(console_stack, case, "D-0001")["title"] == "Board minutes Q3"


def test_a_value_that_the_server_refuses_is_named_beside_it(browser: Browser, console_stack: LocalStack) -> None:
    case = load_family(console_stack, "Refused values")
    document = find_document(console_stack, case, "D-0001")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        open_document(window, case, document["id"])
        form = edit(page)
        form.get_by_label("Title").fill("Kept as typed")
        form.get_by_label("Add a custodian").fill("line\u0085break")
        page.keyboard.press("Control+Enter")
        expect(form.get_by_text("control characters are not allowed")).to_be_visible()
        # The fields are saved by then, and the name is what is left.
        expect(form.locator(".changes")).to_contain_text("What changes: 1 value")
        window.look()
        form.get_by_role("button", name="Do not add").click()
        form.get_by_label("Native").fill("x" * 60_000)
        expect(form.get_by_text("60,000 characters; 1,024 fit.")).to_be_visible()
        form.get_by_role("button", name="Put it back Native").click()
        form.get_by_label("Reviewer").fill("y" * 70_000)
        page.keyboard.press("Control+Enter")
        expect(form.get_by_text("Shorten or remove some.")).to_be_visible()
        expect_faults(window, 400)
    assert find_document(console_stack, case, "D-0001")["title"] == "Kept as typed"
