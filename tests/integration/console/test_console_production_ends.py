"""Productions that do not simply succeed: cancelled, failed, stopped, beaten to their numbers; and very large ones."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import Connection, text

from local.stack import LocalStack
from tests.support.console.browser import Window, open_window
from tests.support.console.matters import build_file, load_file, request
from tests.support.console.productions import (
    WHOLE,
    connect,
    find_production,
    held_numbers,
    load_case,
    produce,
    wait_for_waiting,
)

pytestmark = pytest.mark.slow

PRODUCE = re.compile("^Produce ")
MANY = 100_000


def draft(window: Window, case_id: int, prefix: str) -> None:
    """Open a draft of the whole case, and wait until its button can be pressed."""
    window.go(f"cases/{case_id}/productions/new?all=1&prefix={prefix}")
    expect(window.page.get_by_role("button", name=PRODUCE)).to_be_enabled()


def press(page: Page) -> int:
    """Press the button of a draft, and return the id of its production."""
    page.get_by_role("button", name=PRODUCE).click()
    page.wait_for_url(re.compile("/productions/[0-9]+$"))
    return find_production(page)


def answer(page: Page, words: str) -> None:
    expect(page.get_by_role("main").locator(".answer")).to_contain_text(words)


def test_a_cancelled_production_has_void_numbers(browser: Browser, console_stack: LocalStack) -> None:
    case_id = load_case(console_stack, "Cancelled production")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        draft(window, case_id, "VOID")
        with held_numbers(console_stack, case_id) as watching:
            production = press(page)
            wait_for_waiting(watching, 1)
            page.get_by_role("button", name="Cancel the production").click()
            page.get_by_role("dialog").get_by_role("button", name="Cancel the production").click()
            # Its request waits for the reservation, and is the next one then. Nothing slow comes before this: after
            # 10 s the server ends the wait of the reservation, which then begins again, behind the cancellation.
            wait_for_waiting(watching, 2)
        answer(page, f"the numbers VOID0000001 to VOID{WHOLE.pages:07} are void")
        expect(page.get_by_role("cell", name="void", exact=True)).to_have_count(len(WHOLE.documents))
        made = request(console_stack, "GET", f"/productions/{production}")
        assert (made["status"], made["lastBates"]) == ("cancelled", f"VOID{WHOLE.pages:07}")
        page.get_by_role("link", name="Numbers").click()
        expect(page.get_by_text(f"VOID{WHOLE.pages + 1:07}")).to_be_visible()
        window.look()
        page.get_by_role("link", name="Draft it again").click()
        next_ones = f"as VOID{WHOLE.pages + 1:07} to VOID{2 * WHOLE.pages:07}"
        expect(page.get_by_role("button", name=PRODUCE)).to_contain_text(next_ones)


def test_a_step_that_fails_is_shown_with_its_cause(browser: Browser, console_stack: LocalStack) -> None:
    case_id = load_case(console_stack, "Failed production")
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        draft(window, case_id, "FAIL")
        with held_numbers(console_stack, case_id) as watching:
            production = press(page)
            wait_for_waiting(watching, 1)
            answer(page, "its numbers are not reserved yet")
            window.look()
            page.get_by_role("button", name="Cancel the production").click()
            dialog = page.get_by_role("dialog")
            expect(dialog).to_contain_text("It has no numbers yet")
            window.look()
            dialog.get_by_role("button", name="Close").click()
            volume = request(console_stack, "GET", f"/volumes?caseId={case_id}")["items"][0]
            prefix = request(console_stack, "GET", f"/volumes/{volume['id']}")["prefix"]
            listed = console_stack.s3.list_object_versions(Bucket=console_stack.bucket, Prefix=prefix)["Versions"]
            native = next(each for each in listed if "NATIVES" in each["Key"])
            console_stack.s3.delete_object(
                Bucket=console_stack.bucket, Key=native["Key"], VersionId=native["VersionId"]
            )
        answer(page, "The production failed and was undone.")
        made = request(console_stack, "GET", f"/productions/{production}")
        assert (made["failedStep"], made["status"]) == ("copy", "cancelled")
        expect(page.get_by_text("Restore the files, then draft it again.")).to_be_visible()
        expect(page.get_by_text("failed, then undone: its files are deleted")).to_be_visible()
        expect(page.get_by_role("link", name="Draft it again")).to_be_visible()
        window.look()


def test_of_two_windows_one_gets_the_numbers_and_the_other_is_told(browser: Browser, console_stack: LocalStack) -> None:
    case_id = load_case(console_stack, "Two windows")
    url = console_stack.console_url
    with open_window(browser, url) as first, open_window(browser, url) as second, open_window(browser, url) as third:
        for window in (first, second, third):
            draft(window, case_id, "TWO")
        with held_numbers(console_stack, case_id) as watching:
            both = [press(first.page), press(second.page)]
            wait_for_waiting(watching, 1)
        console_stack.wait_until_idle()
        made = [request(console_stack, "GET", f"/productions/{each}") for each in both]
        assert sorted(each["status"] for each in made) == ["cancelled", "confirmed"]
        assert [each["firstBates"] for each in made if each["status"] == "cancelled"] == [None]
        loser = (first, second)[[each["status"] for each in made].index("cancelled")]
        expect(loser.page.get_by_text("Another production took the numbers")).to_be_visible()
        loser.look()
        # The third has the check from before: its click uses no number, and is explained with the next ones.
        third.page.get_by_role("button", name=PRODUCE).click()
        refusal = third.page.get_by_role("alert")
        expect(refusal).to_contain_text("Another production has taken TWO0000001 since the check was made.")
        expect(refusal).to_contain_text(f"Now the first free number is TWO{WHOLE.pages + 1:07}")
        third.look()
        assert [fault for fault in third.faults if "409" not in fault] == []
        third.faults.clear()
        last = press(third.page)
        numbers = f"have the numbers TWO{WHOLE.pages + 1:07} to TWO{2 * WHOLE.pages:07}"
        answer(third.page, f"The volume VOL002 is complete: {len(WHOLE.documents)} documents {numbers}")
        assert request(console_stack, "GET", f"/productions/{last}")["status"] == "confirmed"


def test_one_that_needs_attention_goes_on_from_its_page(browser: Browser, console_stack: LocalStack) -> None:
    case = "Stopped production"
    load_case(console_stack, case)
    made = produce(console_stack, case, "STOP")
    with connect(console_stack) as connection:
        values = {"id": made["id"], "reason": "SNS did not accept the message; try again later."}
        connection.execute(
            text("UPDATE productions SET status = 'needs_attention', is_open = 0 WHERE id = :id"), values
        )
        connection.execute(
            text(
                "UPDATE production_steps SET status = 'failed', reason = :reason "
                "WHERE production_id = :id AND name = 'notify'"
            ),
            values,
        )
        connection.commit()
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        window.go(f"productions/{made['id']}")
        expect(page.get_by_text("notify the recipients of the volume", exact=True)).to_be_visible()
        expect(page.get_by_text("SNS did not accept the message")).to_be_visible()
        window.look()
        page.get_by_role("button", name="Go on with it").click()
        page.get_by_role("dialog").get_by_role("button", name="Go on with it").click()
        answer(page, "is complete")
        steps = page.get_by_role("region", name="Steps").get_by_role("listitem")
        expect(steps).to_have_text([re.compile("done")] * 5)


def test_a_hundred_thousand_documents_are_read_a_page_at_a_time(browser: Browser, console_stack: LocalStack) -> None:
    case = "A large production"
    load_file(console_stack, case, build_file("L-1,One,Ada,", "L-2,Two,Ada,"))
    made = produce(console_stack, case, "LARGE", numbering="document")
    with connect(console_stack) as connection:
        fill(connection, made["id"])
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        addresses: list[str] = []
        page.on("request", lambda sent: addresses.append(sent.url) if "/documents?" in sent.url else None)
        window.go(f"productions/{made['id']}")
        rows = page.get_by_role("region", name="Documents of the production").get_by_role("row")
        expect(page.get_by_text("1 to 100 of 100,000")).to_be_visible()
        expect(rows).to_have_count(101)
        window.look()
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("101 to 200 of 100,000")).to_be_visible()
        expect(rows.nth(1)).to_contain_text("LARGE0000101")
        expect(rows).to_have_count(101)
        page.get_by_role("button", name="Previous").click()
        expect(page.get_by_text("1 to 100 of 100,000")).to_be_visible()
        assert len(addresses) <= 4, addresses


def fill(connection: Connection, production: int) -> None:
    """Give a confirmed production as many documents as one may have, each with a number."""
    digits = " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10))
    numbers = (
        f"SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM ({digits}) a, ({digits}) b, "
        f"({digits}) c, ({digits}) e, ({digits}) f"
    )
    values = {"production": production, "many": MANY}
    connection.execute(
        text(
            "INSERT INTO production_documents (production_id, exhibit_id, destination_id, position, sequence_id, "
            "first_number, last_number, files, status, control_number, page_set_id, page_count, parent_control_number) "
            "SELECT d.production_id, 1000000000 + n.n, d.destination_id, n.n, d.sequence_id, n.n + 1, n.n + 1, "
            f"d.files, d.status, CONCAT('L-', n.n + 1), 0, d.page_count, '' FROM production_documents d, ({numbers}) n "
            "WHERE d.production_id = :production AND d.position = 0 AND n.n >= 2"
        ),
        values,
    )
    connection.execute(
        text("UPDATE productions SET documents = :many, last_number = :many WHERE id = :production"), values
    )
    connection.commit()
