"""A page that cannot be shown says why and how to go on, and never quotes a document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import Window, accept_dialogs, open_window
from tests.support.console.matters import build_file, load_file

pytestmark = pytest.mark.slow

SCRIPT = re.compile(r"/assets/ImportPage-.*\.js$")
PRIVATE = "Privileged memo"


def deploy(page: Page) -> None:
    """Have the server answer as after a deployment: the page names another script, and the old ones are gone."""
    page.route("**/console/", lambda route: route.fulfill(body="<script src=/console/assets/index-new.js></script>"))
    page.route(SCRIPT, lambda route: route.fulfill(status=404))


def forget(window: Window, words: str) -> None:
    """Take the faults off the list that the test has caused."""
    window.faults[:] = [fault for fault in window.faults if not re.search(words, fault)]


def test_a_window_of_the_old_version_reloads_once_and_then_says_why_it_cannot_go_on(
    browser: Browser, console_stack: LocalStack
) -> None:
    import_id = load_file(console_stack, "Deployed meanwhile", build_file("B-1,One,Ada,"))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("link", name="Deployed meanwhile").click()
        deploy(page)
        with page.expect_navigation(url=f"**/imports/{import_id}", wait_until="load"):
            page.get_by_role("link", name=f"Import {import_id}", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("The server has a new version of the console")
        window.look()
        page.unroute_all()
        page.get_by_role("button", name="Reload the page").click()
        expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()
        forget(window, "404|script of a page")


def test_an_upload_is_never_reloaded_away(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    import_id = load_file(console_stack, "Uploaded meanwhile", build_file("B-1,One,Ada,"))
    file = tmp_path / "held.csv"
    file.write_text(build_file("B-2,Two,Ada,"))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        dialogs = accept_dialogs(page)
        loads: list[str] = []
        page.on("load", lambda _: loads.append(page.url))
        page.route(re.compile(r"/imports/.*Expires"), lambda _: None)
        page.get_by_role("link", name="Import files").click()
        page.locator("input[data-picks=files]").set_input_files(file)
        page.get_by_label("Name of the case").fill("Uploaded meanwhile")
        page.get_by_role("button", name="Use Uploaded meanwhile").click()
        page.wait_for_url(re.compile(r"/import/\d+$"))
        draft = page.url
        deploy(page)
        page.get_by_role("link", name="Cases", exact=True).click()
        page.get_by_role("link", name="Uploaded meanwhile").click()
        page.get_by_role("link", name=f"Import {import_id}", exact=True).click()
        expect(page.get_by_text("A reload would stop an upload")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="Uploaded meanwhile")).to_be_visible()
        page.go_back()
        page.go_back()
        expect(page.get_by_role("progressbar", name="Upload")).to_be_visible()
        assert page.url == draft
        assert (loads, dialogs) == ([], [])
        forget(window, "404|script of a page")


def test_a_script_that_the_network_has_lost_is_loaded_again(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, "Lost script", build_file("B-1,One,Ada,"))
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.get_by_role("link", name="Lost script").click()
        page.route(SCRIPT, lambda route: route.abort())
        page.get_by_role("link", name=f"Import {import_id}", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Check the connection, then try again.")
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()
        forget(window, "ERR_FAILED|script of a page")


def test_a_fault_of_a_page_shows_no_document_and_the_way_back(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, "Faulty page", build_file("B-1,One,Ada,"))

    def spoil(route: Route) -> None:
        # The case is named in the header, whatever the page is able to show.
        route.fulfill(json={"id": import_id, "case": "Faulty page", "status": {PRIVATE: PRIVATE}, "actions": []})

    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.route("**/progress", spoil)
        window.go(f"imports/{import_id}")
        expect(page.get_by_role("heading", name="This page cannot be shown")).to_be_visible()
        assert PRIVATE not in page.inner_text("body")
        assert window.check_accessibility() == []
        page.get_by_role("link", name="Go to the cases").click()
        expect(page.get_by_role("heading", name="Cases", exact=True)).to_be_visible()
        page.unroute_all()
        window.go(f"imports/{import_id}")
        expect(page.get_by_role("heading", name=f"Import {import_id}")).to_be_visible()
        assert window.faults
        window.faults.clear()
