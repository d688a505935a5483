"""Names from a producing party are text on every panel of the wizard, and break no layout on a narrow page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.browser import Window
from tests.support.console.matters import HOSTILE_NAMES, build_file, quote
from tests.support.console.wizard_steps import check, choose, create_case, run, wizard

pytestmark = pytest.mark.slow

LONG = "y" * 4_000
# The name of a file on disk: without a slash, and of 255 bytes at most.
FOLDER = f"<b>=1+1 {'y' * 200}"
DROP = """([name, content]) => {
  const data = new DataTransfer();
  data.items.add(new File([content], name));
  for (const type of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
}"""


# What is to the right of a narrow page, unless it is scrolled in a region of its own.
WIDER = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest(".scroll"))
  .map((each) => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`)"""


def look(window: Window) -> None:
    """No element was made from a name, and the page fits a phone."""
    page = window.page
    assert page.locator("main :is(img, b, script)").count() == 0
    assert window.check_accessibility() == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate(WIDER) == []
    assert window.check_accessibility() == []
    page.set_viewport_size({"width": 1280, "height": 720})


def test_a_folder_with_hostile_names_on_every_panel(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    folder = generate_volume(VolumeSpec("VOL001", "EVIL", families=2)).write(tmp_path).rename(tmp_path / FOLDER)
    for number, name in enumerate(("<img src=x onerror=alert(1)>.csv", "\u202egnp.csv", "=1+1.csv")):
        (folder / name).write_text(build_file(f"E-{number},One,Ada,"))
    case = f"<img src=x onerror=alert(1)> =1+1 {'y' * 200}"
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, folder)
        expect(page.get_by_text("<b>=1+1").first).to_be_visible()
        look(window)
        page.get_by_label("Name of the case").fill(case)
        expect(page.get_by_role("button", name="Create the case")).to_be_visible()
        look(window)
        create_case(page, case)
        expect(page.get_by_text("Choose the load files first.")).to_be_visible()
        look(window)
        rows = page.get_by_label("Rows of documents are in")
        rows.select_option(rows.locator("option", has_text="VOL001.dat").first.get_attribute("value"))
        check(page)
        look(window)
        for panel in ("Format", "Columns", "Mode"):
            page.get_by_role("button", name=f"Change {panel}").click()
        look(window)
        page.reload()
        page.get_by_label("I have read the").check()
        page.get_by_role("button", name=re.compile("^Import ")).click()
        page.wait_for_url(re.compile(r"/imports/\d+$"))
        expect(page.get_by_text("completed").first).to_be_visible()
        look(window)


def test_names_that_are_long_on_every_panel(browser: Browser, console_stack: LocalStack) -> None:
    """A file whose name the API does not accept is refused with the reason, and another one can be chosen."""
    header = ",".join(["Control Number", *(quote(name[:1_000]) for name in HOSTILE_NAMES)])
    content = build_file(",".join(["L-1", *map(quote, HOSTILE_NAMES)]), header=header)
    with wizard(browser, console_stack) as window:
        page = window.page
        page.evaluate(DROP, [f"{LONG}.csv", content])
        expect(page.get_by_text("yyyy").first).to_be_visible()
        look(window)
        create_case(page, "Long names")
        expect(page.get_by_role("alert").first).to_contain_text("fileName")
        look(window)
        page.get_by_role("button", name="Choose other files").click()
        page.evaluate(DROP, [f"{'y' * 200}.csv", content])
        page.wait_for_url(re.compile(r"/import/\d+$"))
        expect(page.get_by_label("Field of column 1,")).to_be_visible()
        look(window)
        page.get_by_role("button", name="Save as profile").click()
        page.get_by_role("dialog").get_by_label("Name").fill(f"{HOSTILE_NAMES[0]} =1+1 {'y' * 200}")
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.reload()
        expect(page.get_by_role("button", name="Use it")).to_be_visible()
        look(window)
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_role("button", name="Stop using it")).to_be_visible()
        look(window)
        check(page)
        look(window)
        run(page, "Import 1 row")
        expect(page.get_by_text("Every row of the file is in the case.", exact=True)).to_be_visible()
        look(window)
        window.faults[:] = [fault for fault in window.faults if "status of 400" not in fault]
