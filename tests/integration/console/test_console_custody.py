"""The custody of devices: drawn and listed, recorded and handed on, and what others do at the same time is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import PHONE, Window, become_viewer, open_window
from tests.support.console.custody_records import OTHER, add_custodian, at, list_periods, record, request_as
from tests.support.console.matters import HOSTILE_NAMES

pytestmark = pytest.mark.slow

CASE = "Held devices"
# The narrowest part of a timeline is 32 pixels wide: layout.ts states how many can be drawn.
MOST_DRAWN = 3 * 1280 // 32 + 2


@contextmanager
def device_window(browser: Browser, stack: LocalStack, device: int, **context: object) -> Iterator[Window]:
    """Yield a window with the page of a device; a refusal that the test causes is not a fault."""
    with open_window(browser, stack.console_url, **context) as window:
        window.go(f"custody/{device}")
        yield window
        window.faults[:] = [
            fault for fault in window.faults if not re.search(r"status of 4(04|09|12)|ERR_FAILED", fault)
        ]


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog").filter(has=page.get_by_role("heading"))


def choose_holder(page: Page, name: str) -> None:
    """Find a custodian in the open dialog, and choose it."""
    dialog(page).get_by_label("Find a custodian by name").fill(name)
    dialog(page).get_by_role("radio", name=name).check()


def open_hand_on(page: Page, receiver: str) -> None:
    page.get_by_role("button", name="Hand on").click()
    choose_holder(page, receiver)


def send(page: Page, button: str) -> None:
    dialog(page).get_by_role("button", name=button, exact=True).click()


def test_a_device_is_added_recorded_and_handed_on(browser: Browser, console_stack: LocalStack) -> None:
    add_custodian(console_stack, CASE, "Ada Held")
    with device_window(browser, console_stack, 110) as window:
        page = window.page
        expect(page.get_by_text("No device has this number yet.")).to_be_visible()
        window.go("custody")
        page.get_by_role("button", name="Add a device").click()
        page.get_by_label("Number").fill("110")
        page.get_by_label("Label").fill("Laptop 110")
        send(page, "Add the device")
        expect(page.get_by_role("heading", name="Device 110 · Laptop 110")).to_be_visible()
        page.get_by_role("button", name="Record the first period").click()
        page.get_by_label("Begin").fill("2026-11-20T08:00:00")
        expect(dialog(page).get_by_text("2026-11-20 08:00:00 UTC")).to_be_visible()
        send(page, "Record the period")
        expect(dialog(page).get_by_text("Choose who holds the device")).to_be_visible()
        choose_holder(page, "Ada Held")
        window.look()
        send(page, "Record the period")
        expect(page.get_by_text("Ada Held has held it since")).to_be_visible()
        page.get_by_role("button", name="Hand on").click()
        dialog(page).get_by_label("Find a custodian by name").fill("Evidence room 9")
        dialog(page).get_by_role("combobox", name="Case").fill(CASE)
        dialog(page).get_by_role("button", name="Add the custodian").click()
        expect(dialog(page).get_by_role("radio", name="Evidence room 9")).to_be_checked()
        send(page, "Hand on")
        expect(page.get_by_text("Evidence room 9 has held it since")).to_be_visible()
        expect(page.get_by_role("region", name="Changes").get_by_role("row")).to_have_count(4)
        first, second = list_periods(console_stack, 110)
        assert (first["custodian"], second["custodian"], second["end"]) == ("Ada Held", "Evidence room 9", None)
        assert first["end"] == second["begin"]
        window.look()


def test_a_page_opened_while_a_device_is_added_stays_open(browser: Browser, console_stack: LocalStack) -> None:
    with device_window(browser, console_stack, 111) as window:
        page = window.page
        sent: list[Route] = []
        page.route(
            "**/devices/111", lambda route: sent.append(route) if route.request.method == "PUT" else route.fallback()
        )
        window.go("custody")
        page.get_by_role("button", name="Add a device").click()
        page.get_by_label("Number").fill("111")
        with page.expect_request(lambda request: request.method == "PUT"):
            send(page, "Add the device")
        page.keyboard.press("Escape")
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Cases").click()
        sent.pop().continue_()
        expect(page.get_by_text("The device was added.")).to_be_attached()
        assert page.url == window.url.partition("#")[0]


def test_of_two_windows_that_hand_on_at_once_one_is_refused_and_sees_why(
    browser: Browser, console_stack: LocalStack
) -> None:
    ada, _ = (add_custodian(console_stack, CASE, name) for name in ("Ada Held", "Cleo Held"))
    record(console_stack, 120, (0, None, ada))
    with (
        device_window(browser, console_stack, 120) as one,
        device_window(browser, console_stack, 120) as other,
    ):
        for window in (one, other):
            open_hand_on(window.page, "Cleo Held")
            dialog(window.page).get_by_label("Note").fill("typed")
        send(other.page, "Hand on")
        expect(other.page.get_by_text("Cleo Held has held it since")).to_be_visible()
        send(one.page, "Hand on")
        alert = dialog(one.page).get_by_role("alert")
        expect(alert).to_contain_text("Not handed on")
        expect(alert).to_contain_text(re.compile(r"Cleo Held, from .*added by me"))
        expect(alert.locator(".in-the-way")).to_have_text("Cleo Held")
        one.look()
        assert len(list_periods(console_stack, 120)) == 2
        alert.get_by_role("button", name="Hand on from this holder instead").click()
        expect(dialog(one.page).get_by_label("Note")).to_have_value("typed")
        choose_holder(one.page, "Ada Held")
        send(one.page, "Hand on")
        expect(one.page.get_by_text("Ada Held has held it since")).to_be_visible()
        assert [each["custodian"] for each in list_periods(console_stack, 120)] == ["Ada Held", "Cleo Held", "Ada Held"]


def test_what_a_second_writer_recorded_is_drawn_and_made_room_for(browser: Browser, console_stack: LocalStack) -> None:
    ada, ben = (add_custodian(console_stack, CASE, name) for name in ("Ada Held", "Ben Held"))
    record(console_stack, 130, (0, 2, ada))

    def write_first(route: Route) -> None:
        record(console_stack, 130, (4, 5, ben))
        route.continue_()

    with device_window(browser, console_stack, 130) as window:
        page = window.page
        page.get_by_role("button", name="Record a period").first.click()
        page.get_by_label("Begin").fill("2026-11-20T10:00:00")
        dialog(page).get_by_label("Note").fill("typed")
        choose_holder(page, "Ada Held")
        page.route("**/custody-periods", write_first, times=1)
        send(page, "Record the period")
        alert = dialog(page).get_by_role("alert")
        expect(alert.locator(".in-the-way")).to_have_text("Ben Held")
        window.look()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Record a period").first.click()
        expect(dialog(page).get_by_text("What you entered before is here.")).to_be_visible()
        expect(dialog(page).get_by_label("Note")).to_have_value("typed")
        send(page, "Record the period")
        alert.get_by_role("button", name=re.compile("^End at")).click()
        send(page, "Record the period")
        expect(dialog(page)).to_have_count(0)
    spans = [(each["begin"], each["end"], each["custodian"]) for each in list_periods(console_stack, 130)]
    assert spans == [(at(0), at(2), "Ada Held"), (at(2), at(4), "Ada Held"), (at(4), at(5), "Ben Held")]


def test_a_period_that_another_user_changed_is_shown_beside_yours(browser: Browser, console_stack: LocalStack) -> None:
    ada, ben = (add_custodian(console_stack, CASE, name) for name in ("Ada Held", "Ben Held"))
    [period] = record(console_stack, 140, (0, 2, ada))
    path = f"/custody-periods/{period['id']}"
    with device_window(browser, console_stack, 140) as window:
        page = window.page
        page.get_by_role("button", name=f"Edit period {period['id']}").click()
        dialog(page).get_by_label("Note").fill("mine")
        request_as(console_stack, OTHER, "PATCH", path, {"custodianId": ben, "note": "theirs"}, '"1"')
        send(page, "Save the period")
        versions = dialog(page).get_by_role("region", name="Versions of the period")
        expect(versions.get_by_role("row", name="Holder")).to_have_text(re.compile("Ada Held.*Ben Held.*Ben Held"))
        expect(versions.get_by_role("row", name="Note")).to_have_text(re.compile("–.*theirs.*mine"))
        window.look()
        request_as(console_stack, OTHER, "PATCH", path, {"note": "theirs again"}, '"2"')
        dialog(page).get_by_role("button", name="Save yours over it").click()
        expect(versions.get_by_role("row", name="Note")).to_have_text(re.compile("–.*theirs again.*mine"))
        dialog(page).get_by_role("button", name="Save yours over it").click()
        expect(dialog(page)).to_have_count(0)
        [saved] = list_periods(console_stack, 140)
        assert (saved["custodian"], saved["note"], saved["version"]) == ("Ben Held", "mine", 4)
        page.get_by_role("button", name=f"Edit period {period['id']}").click()
        dialog(page).get_by_label("Note").fill("too late")
        request_as(console_stack, OTHER, "DELETE", path, None, '"4"')
        send(page, "Save the period")
        dialog(page).get_by_role("button", name="Record it as a new period").click()
        send(page, "Record the period")
        expect(dialog(page)).to_have_count(0)
        [again] = list_periods(console_stack, 140)
        assert (again["note"], again["begin"], again["end"]) == ("too late", at(0), at(2))
        page.get_by_role("button", name=f"Remove period {again['id']}").click()
        send(page, "Remove the period")
        expect(page.get_by_text("No period is recorded: it is not known")).to_be_visible()
        expect(page.get_by_role("region", name="Changes")).to_contain_text(f"removed period {again['id']}")


def test_a_lost_answer_records_once(browser: Browser, console_stack: LocalStack) -> None:
    add_custodian(console_stack, CASE, "Ada Held")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    with device_window(browser, console_stack, 150) as window:
        page = window.page
        page.get_by_role("button", name="Record the first period").click()
        choose_holder(page, "Ada Held")
        page.route("**/custody-periods", lose, times=1)
        send(page, "Record the period")
        expect(page.get_by_text("Ada Held has held it since")).to_be_visible()
        assert len(list_periods(console_stack, 150)) == 1


def test_ten_thousand_periods_are_drawn_in_a_bounded_number_of_parts(
    browser: Browser, console_stack: LocalStack
) -> None:
    holders = [add_custodian(console_stack, CASE, f"Holder {number}") for number in range(3)]
    record(console_stack, 160, *((hour, hour + (1 if hour % 7 else 0.5), holders[hour % 3]) for hour in range(10_000)))
    with device_window(browser, console_stack, 160) as window:
        page = window.page
        parts = page.get_by_role("group", name="Timeline").get_by_role("button")
        expect(page.get_by_text("9,500 earlier periods are not drawn.")).to_be_visible()
        page.get_by_role("button", name="Draw all").click()
        expect(page.get_by_text("not drawn")).to_have_count(0)
        assert 2 <= parts.count() <= MOST_DRAWN
        counted = [re.match(r"[\d.K]+([\d,]+) more", each.inner_text()) for each in parts.all()]
        assert sum(int(found[1].replace(",", "")) for found in counted if found) <= 10_000
        expect(page.get_by_role("region", name="List of periods").get_by_role("row")).to_have_count(101)
        window.look()
        parts.last.focus()
        page.keyboard.press("Home")
        expect(parts.first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"from=2026-11-1.*&to="))
        for _ in range(8):
            page.get_by_role("button", name="Zoom in").click()
        expect(parts.first).to_have_text(re.compile("Holder|without"))
        parts.first.click()
        expect(page.locator(".chosen")).to_contain_text("from")
        page.reload()
        expect(parts.first).to_have_text(re.compile("Holder|without"))


def test_hostile_names_are_text_and_a_viewer_reads(browser: Browser, console_stack: LocalStack) -> None:
    markup, name = HOSTILE_NAMES[0], "\u05d0\u05d1 <b>held</b>"
    holder = add_custodian(console_stack, CASE, name)
    request_as(console_stack, OTHER, "PUT", "/devices/170", {"label": markup})
    record(console_stack, 170, (0, 2, holder), (4.5, None, holder))
    with device_window(browser, console_stack, 170, timezone_id="Europe/Berlin") as window:
        page = window.page
        become_viewer(page)
        expect(page.get_by_role("heading", name=f"Device 170 · {markup}")).to_be_visible()
        expect(page.get_by_text("There is a gap in the history")).to_contain_text("2 h 30 min without a record")
        row = page.get_by_role("region", name="List of periods").get_by_role("row").last
        expect(row).to_contain_text(name)
        expect(row.locator("time").first).to_have_text("Nov 20, 2026, 9:00 AM")
        expect(row.locator("time").first).to_have_attribute("title", "2026-11-20 08:00:00 UTC")
        window.look()
        offered = page.get_by_role("main").get_by_role(
            "button", name=re.compile("^(Hand|Record|Label|Edit|Remove|Add)")
        )
        assert offered.count() == 0
        window.go("custody")
        expect(page.get_by_text(markup)).to_be_visible()
        assert offered.count() == 0
        page.get_by_label("Find a device").fill("17 onerror")
        expect(page.get_by_role("row")).to_have_count(2)
        window.look()
        page.set_viewport_size(PHONE)
        expect(page.get_by_role("link", name="170")).to_be_visible()
