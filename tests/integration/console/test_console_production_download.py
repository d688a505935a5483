"""A production that the page downloads, into a folder or as a zip, is byte for byte the one that the command downloads.

Headless browsers have no pickers: the tests hand folders and files of the page's own storage over in their place.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from local.stack import LocalStack
from tests.support.console.browser import open_window
from tests.support.console.productions import download_by_command, load_case, produce, write_crosswalk

pytestmark = pytest.mark.slow

CASE = "Downloaded by the page"
PICK_FOLDER = """
window.showDirectoryPicker = async () => {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle("chosen", {create: true});
};
"""
PICK_FILE = """
window.showSaveFilePicker = async ({suggestedName}) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, {create: true});
"""
NO_FILE = "delete window.showSaveFilePicker;"
READ_FOLDER = """async () => {
  const found = {};
  const read = async (folder, path) => {
    for await (const [name, handle] of folder.entries()) {
      if (handle.kind === "directory") await read(handle, `${path}${name}/`);
      else found[path + name] = Array.from(new Uint8Array(await (await handle.getFile()).arrayBuffer()));
    }
  };
  await read(await (await navigator.storage.getDirectory()).getDirectoryHandle("chosen"), "");
  return found;
}"""
WRITE = """async ([path, content]) => {
  const parts = path.split("/");
  let folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("chosen");
  for (const each of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(each);
  const writable = await (await folder.getFileHandle(parts.at(-1), {create: true})).createWritable();
  await writable.write(content);
  await writable.close();
}"""
READ_ZIP = """async () => {
  const root = await navigator.storage.getDirectory();
  for await (const [name, handle] of root.entries())
    if (name.endsWith(".zip")) return Array.from(new Uint8Array(await (await handle.getFile()).arrayBuffer()));
}"""


def read_zip(data: bytes) -> dict[str, bytes]:
    """The files of a zip by their paths; fails if it is damaged."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def read_folder(page: Page) -> dict[str, bytes]:
    """The files of the folder that the page was given."""
    return {path: bytes(each) for path, each in page.evaluate(READ_FOLDER).items()}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


@pytest.fixture(scope="module")
def production(console_stack: LocalStack) -> dict[str, Any]:
    load_case(console_stack, CASE)
    made = produce(console_stack, CASE, "LOAD")
    assert made["status"] == "confirmed"
    return made


@pytest.fixture(scope="module")
def expected(
    console_stack: LocalStack, production: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    return download_by_command(console_stack, production["id"], tmp_path_factory.mktemp("command"))


def test_a_folder_has_the_files_of_the_command_and_is_completed(
    browser: Browser, console_stack: LocalStack, production: dict[str, Any], expected: dict[str, bytes]
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.add_init_script(PICK_FOLDER)
        window.go(f"productions/{production['id']}")
        press(page, "Download into a folder")
        summary = page.get_by_text(f"{len(expected)} files, all hashes equal")
        expect(summary).to_be_visible()
        assert read_folder(page) == expected
        window.look()
        # One file is lost, one cut off by an interruption, one is another: it is left alone until the user says so.
        changed = next(path for path in sorted(expected) if "/NATIVES/" in path)
        cut = next(path for path in sorted(expected) if "/TEXT/" in path)
        page.evaluate(WRITE, [changed, "another"])
        page.evaluate(WRITE, [cut, ""])
        press(page, "Close")
        press(page, "Download into a folder")
        expect(page.get_by_text(f"{len(expected) - 1} of {len(expected)} files")).to_be_visible()
        expect(page.get_by_text("1 file in the folder has other content than the volume")).to_be_visible()
        assert read_folder(page)[changed] == b"another"
        window.look()
        press(page, "Replace 1 file")
        expect(summary).to_be_visible()
        expect(page.get_by_text(f"{len(expected) - 2} were there already")).to_be_visible()
        assert read_folder(page) == expected


@pytest.mark.parametrize("script", [PICK_FILE, NO_FILE], ids=["to the disk", "in memory"])
def test_a_zip_has_the_files_of_the_command(
    browser: Browser, console_stack: LocalStack, production: dict[str, Any], expected: dict[str, bytes], script: str
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.add_init_script(script)
        window.go(f"productions/{production['id']}")
        if script == NO_FILE:
            expect(page.get_by_text("keeps a zip in its memory until it is whole: up to 1 GB.")).to_be_visible()
            with page.expect_download() as saved:
                press(page, "Download as a zip")
            assert saved.value.suggested_filename == f"production {production['id']} - VOL001.zip"
            data = Path(saved.value.path()).read_bytes()
        else:
            press(page, "Download as a zip")
        expect(page.get_by_text(f"{len(expected)} files, all hashes equal")).to_be_visible()
        if script == PICK_FILE:
            data = bytes(page.evaluate(READ_ZIP))
        assert read_zip(data) == expected


def test_what_arrives_with_other_bytes_is_listed_and_tried_again(
    browser: Browser, console_stack: LocalStack, production: dict[str, Any], expected: dict[str, bytes]
) -> None:
    bad = next(path for path in sorted(expected) if "/NATIVES/" in path).rsplit("/", 1)[1]
    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.add_init_script(PICK_FILE)

        def tamper(route: Route) -> None:
            content = route.fetch().body()
            route.fulfill(body=b"X" + content[1:], headers={"Access-Control-Allow-Origin": "*"})

        pattern = re.compile(rf"/{re.escape(bad)}\?")
        page.route(pattern, tamper)
        window.go(f"productions/{production['id']}")
        press(page, "Download as a zip")
        expect(page.get_by_text("1 file did not arrive:")).to_be_visible()
        expect(page.get_by_text("Its bytes do not match its hash.")).to_be_visible()
        expect(page.get_by_text("The zip is saved when every file is in it.")).to_be_visible()
        assert page.evaluate(READ_ZIP) == []
        window.look()
        page.unroute(pattern)
        press(page, "Try again")
        expect(page.get_by_text(f"{len(expected)} files, all hashes equal")).to_be_visible()
        assert read_zip(bytes(page.evaluate(READ_ZIP))) == expected


def test_a_list_that_is_not_that_of_the_manifest_is_refused_before_a_file_is_written(
    browser: Browser, console_stack: LocalStack, production: dict[str, Any]
) -> None:
    def change(route: Route) -> None:
        listed = route.fetch().json()
        # Two natives have each other's hashes, sizes and bytes.
        one, two = [each for each in listed["items"] if each["path"].startswith("NATIVES/")][:2]
        one["path"], two["path"] = two["path"], one["path"]
        route.fulfill(json=listed)

    with open_window(browser, console_stack.console_url) as window:
        page = window.page
        page.add_init_script(PICK_FOLDER)
        page.route(re.compile(rf"/productions/{production['id']}/files"), change)
        window.go(f"productions/{production['id']}")
        press(page, "Download into a folder")
        expect(page.get_by_text("The list of the files is not that of MANIFEST.csv")).to_be_visible()
        assert read_folder(page) == {}


def test_the_crosswalk_is_that_of_the_command(
    browser: Browser, console_stack: LocalStack, production: dict[str, Any], tmp_path: Path
) -> None:
    with open_window(browser, console_stack.console_url) as window:
        window.go(f"productions/{production['id']}")
        with window.page.expect_download() as saved:
            press(window.page, "Crosswalk (CSV)")
        data = Path(saved.value.path()).read_bytes()
    assert data == write_crosswalk(console_stack, production["id"], tmp_path / "crosswalk.csv")
