"""What a producing party names and writes is text on every page, and breaks no layout on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec, generate_volume
from tests.support.console.browser import Window, become_viewer
from tests.support.console.imported_cases import list_documents
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


def look(window: Window) -> None:
    """No element was made from a name, and the page fits a desk and a phone."""
    assert window.page.locator("main :is(img, b, script)").count() == 0
    window.look()


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


def test_long_and_hostile_cells_from_the_check_to_the_rejected_rows(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    """Cells of 4,000 characters, also in the rows that are rejected, which are corrected as they are."""
    cells = [(name * (4_000 // len(name) + 1))[:4_000] for name in HOSTILE_NAMES]
    rows = [["", *cells], ["C-1", *cells], ["C-1", *cells], ["C-3", *cells, "more"]]
    header = ",".join(["Control Number", *(quote(name[:90]) for name in HOSTILE_NAMES)])
    file = tmp_path / "=1+1 <b>.csv"
    file.write_text(build_file(*(",".join(map(quote, row)) for row in rows), header=header), encoding="utf-8")
    with wizard(browser, console_stack) as window:
        page = window.page
        choose(page, file)
        create_case(page, "Cells of thousands")
        expect(page.get_by_label("Field of column 1,")).to_be_visible()
        check(page)
        for found in page.locator("footer summary").all():
            found.click()
        look(window)
        import_id = run(page, "Import 1 row and leave 3")
        expect(page.get_by_text("3 rows of the file are not in the case.").first).to_be_visible()
        for group in page.locator("main details.group > summary").all():
            group.click()
        look(window)
        page.get_by_role("link", name="Fix 3 rows").click()
        page.get_by_label("all 5 columns").check()
        expect(page.get_by_label(f"{HOSTILE_NAMES[3][:90]}, line 2", exact=True)).to_have_value(cells[3])
        look(window)
        page.get_by_role("button", name="Arrange the 6 cells of line 5").click()
        look(window)
        page.get_by_label("Control Number, line 2", exact=True).fill("C-2")
        page.get_by_role("button", name="Import 1 corrected row").click()
        expect(page.locator(".loads")).to_contain_text("1 of 1 imported by import")
        become_viewer(page)
        window.go(f"imports/{import_id}/fix")
        page.get_by_label("all 5 columns").check()
        expect(page.get_by_text("4,000 characters").first).to_be_visible()
        look(window)
    stored = list_documents(console_stack, "Cells of thousands")["C-2"]["properties"]
    assert [stored[name[:90]] for name in HOSTILE_NAMES] == cells


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
        expect(page.get_by_role("alert").first).to_contain_text("“The name of the file”")
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
