"""The wizard takes a load file or a volume from a file chooser to a finished import, and loses nothing on the way."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.browser import PATIENCE_MS, become_viewer, open_window
from tests.support.console.wizard_steps import check, choose, create_case, field_of, run, wizard

pytestmark = pytest.mark.slow

HEADER = "Control Number,Title,Expiry Date,Custodian"
ROWS = "\n".join([HEADER, *(f"W-{each},Title {each},{each:02}/04/2019,Ada" for each in range(1, 13)), ",No id,,Ada"])
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\u202egpj.exe",
    "=cmd|' /C calc'!A1",
    "x" * 4_000,
]


def test_a_load_file_goes_through_all_panels(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    with wizard(browser, console_stack) as window:
        page = window.page
        expect(page.get_by_role("button", name="Check the file")).to_be_disabled()
        window.look()
        choose(page, file)
        expect(page.get_by_text("rows.csv").first).to_be_visible()
        # The name is unlike all others, so that Enter creates the case.
        page.get_by_label("Name of the case").fill("Quokka")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/import/\d+$"))
        expect(page.get_by_text("looks like a date, not mapped").first).to_be_visible()
        window.look()
        field_of(page, 3).select_option("date_received")
        expect(page.get_by_text("your choice")).to_be_visible()
        check(page)
        expect(page.get_by_text("12 rows would be imported and 1 row would be rejected.").first).to_be_visible()
        page.get_by_text("no id", exact=True).click()
        expect(page.get_by_text(re.compile("Line 14:"))).to_be_visible()
        window.look()
        run(page, "Import 12 rows and leave 1")
        expect(page.get_by_text("1 row of the file is not in the case.").first).to_be_visible()


def test_a_folder_is_sent_checked_and_run(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    folder = generate_volume(VolumeSpec("VOL001", "WIZ")).write(tmp_path)
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, folder)
        expect(page.get_by_text("VOL001.dat and VOL001.opt found").first).to_be_visible()
        create_case(page, "Wizard volume")
        page.wait_for_url(re.compile(r"/import/volume/\d+$"))
        expect(page.get_by_role("list", name="Examples of paths").get_by_role("listitem")).to_have_count(4)
        assert window.check_accessibility() == []
        check(page)
        expect(page.get_by_text("1 of 19 natives is missing.")).to_be_visible()
        expect(page.get_by_text("OPT_DOC_NOT_FOUND")).to_be_visible()
        expect(page.get_by_role("button", name="Import 19 rows")).to_be_disabled()
        run(page, "Import 19 rows, add 36 pages and leave 1")
        expect(page.get_by_text("Every row of the file is in the case.").first).to_be_visible()


def show_unpacking(route: Route) -> None:
    """Have a volume that is there be one of which the zip is being unpacked."""
    response = route.fetch()
    volume = response.json()
    if volume["status"] != "open":
        volume |= {"status": "expanding", "units": 4, "unitsLeft": 3, "imports": []}
    route.fulfill(response=response, json=volume)


def test_a_zip_is_sent_checked_and_run(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    generate_volume(VolumeSpec("VOL001", "ZIP")).write(tmp_path / "sent")
    archive = Path(shutil.make_archive(str(tmp_path / "VOL001"), "zip", tmp_path / "sent"))
    with wizard(browser, console_stack) as window:
        page = window.page
        with page.route(re.compile(r"/volumes/\d+$"), show_unpacking):
            choose(page, archive)
            create_case(page, "Zipped volume")
            page.wait_for_url(re.compile(r"/import/volume/\d+$"))
            expect(page.get_by_text("Unpacking the zip · 1 of 4 parts")).to_be_visible()
        check(page)
        run(page, "Import 19 rows, add 36 pages and leave 1")
        expect(page.get_by_text("Every row of the file is in the case.").first).to_be_visible()


def test_a_reload_keeps_the_draft_and_sends_what_is_missing(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    """The browser warns before bytes are lost, and the server has the choices that were made before."""
    file = tmp_path / "later.csv"
    file.write_text(ROWS)
    with wizard(browser, console_stack) as window:
        page = window.page
        shown: list[str] = []
        page.on("dialog", lambda dialog: shown.append(dialog.type))

        def hold(route: Route) -> None:
            if route.request.method == "PUT" and "/imports/" in route.request.url and "Expires" in route.request.url:
                return
            route.fallback()

        page.route("**/*", hold)
        choose(page, file)
        create_case(page, "Wizard reload")
        page.wait_for_url(re.compile(r"/import/\d+$"))
        with page.expect_response(lambda each: each.request.method == "PUT" and each.url.endswith("/options")):
            field_of(page, 3).select_option("date_sent")
        page.reload()
        expect(page.get_by_text("Choose later.csv again to go on.")).to_be_visible()
        assert shown == ["beforeunload"]
        assert window.check_accessibility() == []
        page.unroute("**/*")
        other = tmp_path / "other.csv"
        other.write_text("a,b\n1,2\n")
        choose(page, other)
        expect(page.get_by_role("alert")).to_contain_text("This draft is of “later.csv”")
        choose(page, file)
        expect(field_of(page, 3)).to_have_value("date_sent")
        check(page)
        page.reload()
        run(page, "Import 12 rows and leave 1")
        expect(page.get_by_text("1 row of the file is not in the case.").first).to_be_visible()
        window.go(f"import/{page.url.rpartition('/')[2]}")
        page.wait_for_url(re.compile(r"/imports/\d+$"))


def test_hostile_names_are_text_everywhere(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "hostile.csv"
    quoted = ['"' + name.replace('"', '""') + '"' for name in HOSTILE]
    # A first line with a name of thousands of characters is taken for no header.
    header = ",".join(["Control Number", *quoted[:3], "x" * 200])
    file.write_text("\n".join([header, ",".join(["H-1", *quoted])]), encoding="utf-8")
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, file)
        create_case(page, f"{HOSTILE[0]} in the wizard")
        page.wait_for_url(re.compile(r"/import/\d+$"))
        expect(page.get_by_text("U+202E").first).to_be_visible()
        assert page.locator("img").count() == 0
        window.look()
        for number in range(2, 6):
            field_of(page, number).select_option("tags" if number % 2 else "property")
        check(page)
        page.get_by_role("button", name="Change Columns").click()
        assert page.locator("img").count() == 0
        window.look()


def test_similar_names_of_cases_are_offered_before_a_new_one(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    assert console_stack.request_api("local", "me", "GET", "/cases")[0] == 200
    with wizard(browser, console_stack) as window:
        page = window.page
        create_case(page, "Northwind v. Contoso")
        expect(page.get_by_role("button", name="Change Case")).to_be_visible()
        page.reload()
        page.get_by_label("Name of the case").fill("northwind v contoso")
        expect(page.get_by_text("similar: has 0 documents").first).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Use Northwind v. Contoso")).to_be_focused()
        expect(page.get_by_role("button", name="Create the case northwind v contoso")).to_be_visible()
        page.get_by_role("button", name="Use Northwind v. Contoso").press("Enter")
        expect(page.get_by_role("button", name="Change Case")).to_be_visible()


def test_a_file_that_is_dropped_on_the_cases_is_in_the_wizard(browser: Browser, console_stack: LocalStack) -> None:
    drop = """() => {
      const data = new DataTransfer();
      data.items.add(new File(["Control Number\\nD-1\\n"], "dropped.csv"));
      for (const type of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
    }"""
    with open_window(browser, console_stack.console_url) as window:
        expect(window.page.get_by_role("link", name="Import files")).to_be_visible()
        window.page.evaluate(drop)
        expect(window.page.get_by_text("dropped.csv").first).to_be_visible()
        assert window.page.url.endswith("/console/import")


def test_a_viewer_reads_who_can_import(browser: Browser, console_stack: LocalStack) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        become_viewer(page)
        expect(page.get_by_text("Your role is viewer")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.get_by_role("link", name="Import files")).to_have_count(0)
        window.go("import")
        expect(page.get_by_text("ask your administrator for the role editor")).to_be_visible()
        assert page.locator("input[type=file]").count() == 0
        window.look()
