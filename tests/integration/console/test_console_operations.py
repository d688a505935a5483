"""The page of operations: what failed and its retry, what waits, and what it says of nothing and of too much."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import create_engine, text

from local.stack import LocalStack
from tests.support.console.browser import become_viewer, open_window
from tests.support.console.matters import TENANT, build_file, load_file, request

pytestmark = pytest.mark.slow

NOTHING = {"groups": [], "events": {"total": 0, "totalIsLowerBound": False, "items": []}, "failedDays": 14}
# Of the API, not of the console.
ROUTE = re.compile("//[^/]+/operations$")


def run(stack: LocalStack, statement: str, **values: Any) -> None:
    """Change the database as no request can."""
    engine = create_engine(str(stack.options.database_url))
    with engine.begin() as connection:
        connection.execute(text(statement), values)
    engine.dispose()


def build_work(number: int, **more: Any) -> dict[str, Any]:
    """An import as the API lists one."""
    names = {"id": number, "status": "failed", "caseId": 1, "case": "Acme", "name": f"VOL{number:03}.dat"}
    failed = {"since": "2026-11-27T09:00:00Z", "chunksFailed": 0, "code": "NOT_READ", "canBeRetried": True}
    reason = "The file could not be read in any attempt; retry the import, and if it fails again ask the operator."
    return {**names, **failed, "reason": reason, **more}


def build_event(number: int) -> dict[str, Any]:
    """An event as the API lists one."""
    about = {"id": number, "eventType": "import.completed", "target": "sns", "objectType": "import", "objectId": "7"}
    times = {"createdAt": "2026-11-27T09:00:00Z", "deadLetteredAt": "2026-11-27T09:30:00Z"}
    return {**about, **times, "attempts": 5, "refusals": 5, "refusal": "InvalidParameter"}


def build_group(state: str, items: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A group as the API lists one."""
    counted = {"total": len(items), "totalIsLowerBound": False, "items": items}
    return {"kind": "import", "state": state, **counted, **more}


def answer(page: Page, found: dict[str, Any]) -> None:
    """Have the page get this list from now on."""
    reply: Callable[[Route], None] = lambda route: route.fulfill(json=found)  # noqa: E731
    page.route(ROUTE, reply)


def test_a_failed_import_and_an_event_are_retried_from_the_page(browser: Browser, console_stack: LocalStack) -> None:
    stack = console_stack
    import_id = load_file(stack, "Operated", build_file("O-1,One,Ada,"))
    run(
        stack,
        "UPDATE imports SET status = 'failed', failure_code = 'NOT_COMPLETED', "
        "failure_message = 'It was not completed.' WHERE id = :id",
        id=import_id,
    )
    run(
        stack,
        "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, tenant_id, failures, "
        "refusal, sequence, dead_lettered_at) "
        "VALUES ('thing', '7', 'thing.happened', :p, 2, :t, 5, 'InvalidParameter', 1, NOW(6))",
        p=json.dumps({"tenantId": TENANT}),
        t=TENANT,
    )
    with open_window(browser, stack.console_url) as window:
        page = window.page
        window.go("operations")
        for counted in ("1 failed", "1 event not published"):
            expect(page.get_by_role("link", name=counted)).to_be_visible()
        expect(page.get_by_text("refused 5 times by the topic of events (InvalidParameter)")).to_be_visible()
        window.look()
        retry = page.get_by_role("button", name="Retry event")
        retry.focus()
        page.keyboard.press("Enter")
        result = page.get_by_role("main").get_by_text("1 event is published again.")
        expect(result).to_be_focused()
        expect(page.get_by_role("status").filter(has_text="1 failed")).to_have_count(1)
        expect(page.get_by_role("heading", name="Events that could not be published")).to_have_count(0)
        page.get_by_role("button", name=f"Retry Import {import_id}").click()
        expect(page.get_by_text(f"Import {import_id} goes on.").first).to_be_visible()
        expect(page.get_by_text("Nothing runs, nothing waits, nothing failed.").first).to_be_visible()
        window.look()
    assert request(stack, "GET", f"/imports/{import_id}")["status"] == "completed"
    acts = request(stack, "GET", "/activities?action=event.retried")["items"]
    assert [each["summary"] for each in acts] == [{"events": 1}]


def test_a_retry_that_is_refused_is_explained_beside_its_button(browser: Browser, console_stack: LocalStack) -> None:
    import_id = load_file(console_stack, "Operated", build_file("P-1,One,Ada,"), "whole.csv")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        answer(page, {**NOTHING, "groups": [build_group("failed", [build_work(import_id)])]})
        window.go("operations")
        page.get_by_role("button", name="Retry Import").click()
        expect(page.get_by_role("listitem").get_by_text("Every row was imported")).to_be_visible()
        window.look()
        # The browser logs a response with an error.
        window.faults.clear()


def test_a_thousand_failures_are_a_hundred_and_more(browser: Browser, console_stack: LocalStack) -> None:
    works = [build_work(number) for number in range(100, 0, -1)]
    events = [build_event(number) for number in range(100, 0, -1)]
    many = {"total": 100, "totalIsLowerBound": True}
    waiting = build_group("waiting", [build_work(7, status="running", canBeRetried=False, reason=None)])
    groups = [build_group("failed", works, **many), waiting, build_group("running", works[:3])]
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        answer(page, {**NOTHING, "groups": groups, "events": {"items": events, **many}})
        window.go("operations")
        for counted in ("100 or more failed", "100 or more events not published", "1 waits", "3 run"):
            expect(page.get_by_role("link", name=counted)).to_be_visible()
        page.get_by_role("link", name="1 waits").click()
        expect(page.get_by_role("heading", name="Waiting")).to_be_in_viewport()
        expect(page.get_by_text("The newest 100 are shown; the pages of their cases list all of them.")).to_be_visible()
        expect(page.get_by_text("Retry all takes the 1,000 oldest at once.")).to_be_visible()
        window.look()


def test_without_an_answer_the_page_says_so_and_goes_on_when_there_is_one(
    browser: Browser, console_stack: LocalStack
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.route(ROUTE, lambda route: route.fulfill(status=500, json={"title": "The server has a fault"}))
        window.go("operations")
        expect(page.get_by_role("alert")).to_be_visible()
        window.look()
        page.unroute(ROUTE)
        answer(page, NOTHING)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("Nothing runs, nothing waits, nothing failed.").first).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        window.faults.clear()


def test_who_is_no_administrator_reads_a_sentence_and_nothing_is_requested(
    browser: Browser, console_stack: LocalStack
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page, sent = window.page, list[str]()
        become_viewer(page)
        page.on("request", lambda each: sent.append(each.url) if ROUTE.search(each.url) else None)
        window.go("operations")
        expect(page.get_by_text("This page is for administrators")).to_be_visible()
        expect(page.get_by_role("button", name="Retry")).to_have_count(0)
        window.look()
        assert sent == []
