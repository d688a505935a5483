"""Profiles, an overlay and the choice of load files in the wizard: each decides the import, and survives a reload."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.imported_cases import list_documents
from tests.support.console.matters import build_file, load_file
from tests.support.console.wizard_steps import check, choose, create_case, field_of, run, use_case, wizard

pytestmark = pytest.mark.slow

PROFILE = "Vendor <b>B</b> =1+1"
HEADER = "Control Number,Expiry Date,Custodian"


def press_and_store(page: Page, button: str, profile: str | None) -> None:
    """Press a button, and wait until the server has options with this profile."""

    def is_stored(response: Response) -> bool:
        request = response.request
        is_put = response.ok and request.method == "PUT" and request.url.endswith("/options")
        return is_put and json.loads(request.post_data or "{}").get("profile") == profile

    with page.expect_response(is_stored):
        page.get_by_role("button", name=button).click()


def test_a_profile_is_saved_offered_and_applied(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(build_file("P-1,03/04/2019,Ada", header=HEADER))
    second.write_text(build_file("P-2,04/05/2019,Ben", header=HEADER))
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, first)
        create_case(page, "With a profile")
        field_of(page, 2).select_option("date_sent")
        expect(page.get_by_text("your choice")).to_be_visible()
        page.get_by_role("button", name="Save as profile").click()
        page.get_by_role("dialog").get_by_label("Name").fill(PROFILE)
        assert window.check_accessibility() == []
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        window.go("import")
        choose(page, second)
        use_case(page, "With a profile")
        expect(field_of(page, 2)).to_have_value("property")
        expect(page.get_by_text("fits this header")).to_contain_text(PROFILE)
        press_and_store(page, "Use it", PROFILE)
        expect(field_of(page, 2)).to_have_value("date_sent")
        expect(page.get_by_text("the profile says so").first).to_be_visible()
        press_and_store(page, "Stop using it", None)
        expect(field_of(page, 2)).to_have_value("property")
        press_and_store(page, "Use it", PROFILE)
        page.reload()
        expect(page.get_by_text("Read with the profile")).to_contain_text(PROFILE)
        assert window.check_accessibility() == []
        page.get_by_label("Dates such as 03/04/2019").select_option("DMY")
        check(page)
        run(page, "Import 1 row")
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()
        page.get_by_text("How the file was read").click()
        expect(page.get_by_text(PROFILE).first).to_be_visible()
    assert list_documents(console_stack, "With a profile")["P-2"]["dateSent"].startswith("2019-05-04")


def test_a_dialog_that_is_opened_while_a_closed_one_saves_stays_open(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    file = tmp_path / "other.csv"
    file.write_text(build_file("P-3,One", header="Control Number,Other"))
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, file)
        create_case(page, "With a dialog")
        sent: list[Route] = []
        page.route("**/profiles", lambda route: sent.append(route), times=1)
        page.get_by_role("button", name="Save as profile").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Saved meanwhile")
        with page.expect_request("**/profiles"):
            page.get_by_role("button", name="Save profile").click()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Save as profile").click()
        sent.pop().continue_()
        expect(page.get_by_text("The profile is saved.")).to_be_attached()
        expect(page.get_by_role("dialog")).to_be_visible()


def test_an_overlay_shows_what_it_changes_before_it_does(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    case = "Overlaid"
    load_file(console_stack, case, build_file("O-1,One,Ada,Hot", "O-2,Two,Ada,Hot"))
    file = tmp_path / "overlay.csv"
    file.write_text(build_file("O-1,Uno,,Hot", "O-2,,Ben,Cold", "O-9,Nine,Ada,"))
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, file)
        use_case(page, case)
        page.get_by_role("radio", name=re.compile("^Change documents")).check()
        page.get_by_text("Overlay settings").first.click()
        page.get_by_label("A blank cell").select_option("clear")
        page.get_by_label("Custodians and tags").select_option("replace")
        assert window.check_accessibility() == []
        check(page)
        expect(page.get_by_text("2 documents would change and 1 row would be rejected.").first).to_be_visible()
        page.reload()
        page.get_by_text("2 documents would change in").click()
        expect(page.get_by_text("O-1, Title: One → Uno")).to_be_visible()
        assert window.check_accessibility() == []
        page.get_by_role("button", name="Change Mode").click()
        expect(page.get_by_role("radio", name=re.compile("^Change documents"))).to_be_checked()
        page.get_by_text("Overlay settings").first.click()
        expect(page.get_by_label("A blank cell")).to_have_value("clear")
        run(page, "Change 2 documents and leave 1")
        expect(page.get_by_text("1 row of the file is not in the case.").first).to_be_visible()
    documents = list_documents(console_stack, case)
    assert sorted(documents) == ["O-1", "O-2"]
    assert (documents["O-1"]["title"], documents["O-1"]["custodians"]) == ("Uno", [])
    assert (documents["O-2"]["title"], documents["O-2"]["tags"]) == (None, ["Cold"])


def test_of_two_files_with_rows_the_chosen_one_is_read_with_the_images(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    folder = generate_volume(VolumeSpec("VOL001", "TWO", families=4)).write(tmp_path)
    data = next(folder.rglob("*.dat"))
    shutil.copy(data, data.with_name("other.dat"))
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, folder)
        create_case(page, "Two data files")
        expect(page.get_by_text("Choose the load files first.")).to_be_visible()
        expect(page.get_by_role("button", name="Check the file")).to_be_disabled()
        assert window.check_accessibility() == []
        chosen = page.get_by_label("Rows of documents are in")
        option = chosen.locator("option", has_text=data.name).first.get_attribute("value")
        chosen.select_option(option)
        check(page)
        page.reload()
        expect(page.get_by_text("Nothing was written to the case.").first).to_be_visible()
        expect(page.get_by_role("button", name="Import")).to_contain_text("pages")
        page.get_by_role("button", name="Change Format").click()
        expect(chosen).to_have_value(option or "")
