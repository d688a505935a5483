"""Uploads from a browser to the bucket, without a page: parts that are continued, a lost network, a folder as a zip."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from local.stack import LocalStack
from local.stack.options import REPOSITORY
from tests.support.console.browser import PATIENCE_MS, open_window
from tests.support.console.packer import bundle

pytestmark = pytest.mark.slow

# What the log of the browser has for a lost network, a file that arrived although its request was stopped, and a
# machine that is too busy.
EXPECTED = ("net::ERR_", "status of 412", "status of 503")
ENTRY = REPOSITORY / "console" / "tests" / "upload" / "entry.ts"
# Functions for the scripts of the tests: they make files, announce them, and keep the upload as `transfer`.
PRELUDE = """async () => {
  await uploads.startSession();
  const { api, data } = uploads;
  // A function that was not called before can take long on a busy machine: the same request is sent again.
  const post = async (path, body, more = {}) => {
    const params = { header: { "Idempotency-Key": crypto.randomUUID() }, path: more };
    for (;;)
      try {
        return data(await api.POST(path, { params, body }));
      } catch (error) {
        if (error.status !== 503) throw error;
      }
  };
  window.makeBytes = (size, seed) => {
    const words = new Uint32Array(Math.ceil(size / 4));
    for (let at = 0, word = seed; at < words.length; at++) words[at] = word = (word * 1664525 + 1013904223) >>> 0;
    return new Uint8Array(words.buffer, 0, size);
  };
  window.announce = (file) =>
    post("/imports", { case: "Uploads", fileName: file.name, size: file.size, inParts: true, hold: true });
  window.createVolume = (name, archive) => post("/volumes", { case: "Uploads", name, archive });
  window.seal = (volumeId) => post("/volumes/{volumeId}/import", { hold: true }, { volumeId });
  window.begin = (transfer, pauseAfter = Infinity) => {
    window.transfer = transfer;
    const stop = transfer.subscribe(() => {
      if (transfer.getSnapshot().files.done < pauseAfter) return;
      stop();
      transfer.pause();
    });
    transfer.start();
  };
  window.makeFolder = (count, size) => [
    { path: "V/V.dat", size: 20, file: new File(["Control Number\\nA-001"], "V.dat") },
    ...Array.from({ length: count }, (_, at) => {
      const file = new File([makeBytes(size, at)], `${at}.bin`);
      return { path: `V/NATIVES/${at}.bin`, size, file };
    }),
  ];
}"""


@pytest.fixture
def page(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> Iterator[Page]:
    script = tmp_path / "uploads.js"
    bundle(ENTRY, script, "--format", "iife", "--name", "uploads", "--platform", "browser")
    with open_window(browser, console_stack.console_url) as window:
        window.page.evaluate(f"{script.read_text(encoding='utf-8')}\nwindow.uploads = uploads;")
        window.page.evaluate(PRELUDE)
        yield window.page
        # Requests that a test stops or loses on purpose are errors in the log.
        window.faults = [fault for fault in window.faults if not any(each in fault for each in EXPECTED)]


def wait_for(page: Page, condition: str) -> dict[str, Any]:
    """Return the snapshot of the upload once the condition holds for it. The policy of the page forbids to poll it."""
    script = f"""new Promise((resolve, reject) => {{
      const look = () => {{ const it = transfer.getSnapshot(); if ({condition}) resolve(it); }};
      transfer.subscribe(look);
      look();
      setTimeout(() => reject(new Error(JSON.stringify(transfer.getSnapshot()))), {PATIENCE_MS});
    }})"""
    snapshot: dict[str, Any] = page.evaluate(script)
    return snapshot


def request(stack: LocalStack, path: str) -> Any:
    status, body = stack.request_api("local", "me", "GET", path)
    assert status == 200
    return json.loads(body)


def test_a_file_in_parts_is_continued_after_a_reload(page: Page, console_stack: LocalStack) -> None:
    page.evaluate("window.file = new File([makeBytes(50_000_000, 1)], 'large.dat')")
    page.evaluate("announce(file).then((it) => { window.announced = it; })")
    page.evaluate(
        "begin(uploads.uploadSource(uploads.fileSource(file), uploads.importTarget(announced.id, announced.upload)))"
    )
    wait_for(page, "it.bytes.done > 16_000_000")
    page.evaluate("transfer.cancel()")
    page.evaluate("begin(uploads.uploadSource(uploads.fileSource(file), uploads.importTarget(announced.id, null)))")
    end = wait_for(page, "it.status === 'done' || it.status === 'failed'")
    assert end["failures"] == []
    assert end["bytes"] == {"done": 50_000_000, "all": 50_000_000}
    console_stack.wait_until_idle()
    import_id = page.evaluate("announced.id")
    assert request(console_stack, f"/imports/{import_id}/upload")["state"] == "stored"
    page.evaluate("begin(uploads.uploadSource(uploads.fileSource(file), uploads.importTarget(announced.id, null)))")
    assert wait_for(page, "it.status === 'done'")["alreadyThere"] == 1


def test_a_folder_goes_on_when_the_network_is_back(page: Page, console_stack: LocalStack) -> None:
    page.evaluate("createVolume('V').then((it) => { window.volume = it; })")
    page.evaluate("window.files = makeFolder(120, 2_000)")
    page.evaluate("begin(uploads.uploadFolder(files, uploads.folderTarget(volume.id)), 10)")
    # Paused, so that not all is sent before the network is lost.
    wait_for(page, "it.status === 'paused'")
    page.context.set_offline(True)
    page.evaluate("transfer.resume()")
    assert wait_for(page, "it.status === 'offline'")["failures"] == []
    page.context.set_offline(False)
    end = wait_for(page, "it.status === 'done' || it.status === 'failed'")
    assert (end["files"], end["failures"]) == ({"done": 121, "all": 121}, [])
    page.evaluate("begin(uploads.uploadFolder(files, uploads.folderTarget(volume.id)))")
    assert wait_for(page, "it.status === 'done'")["alreadyThere"] == 121
    volume_id = page.evaluate("seal(volume.id).then((it) => it.id)")
    console_stack.wait_until_idle()
    assert request(console_stack, f"/volumes/{volume_id}")["files"] == 121


def test_a_folder_is_packed_while_it_is_sent(page: Page, console_stack: LocalStack) -> None:
    page.evaluate("window.archive = uploads.packFiles(makeFolder(300, 80_000))")
    page.evaluate("window.zip = { fileName: 'P.zip', size: archive.size, inParts: true }")
    page.evaluate("createVolume('P', zip).then((it) => { window.volume = it; })")
    page.evaluate("begin(uploads.uploadSource(archive, uploads.archiveTarget(volume.id, volume.upload)))")
    end = wait_for(page, "it.status === 'done' || it.status === 'failed'")
    assert (end["files"], end["failures"]) == ({"done": 301, "all": 301}, [])
    volume_id = page.evaluate("seal(volume.id).then((it) => it.id)")
    console_stack.wait_until_idle()
    volume = request(console_stack, f"/volumes/{volume_id}")
    assert (volume["status"], volume["files"]) == ("ready", 301)
