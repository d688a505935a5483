"""Large uploads in the wizard: 20,000 files, a file whose network is cut, a session that ends, a reload."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import create_engine, text

from local.stack import LocalStack
from tests.support.console.browser import PATIENCE_MS, Window
from tests.support.console.cut_network import Network, cut_network
from tests.support.console.imported_cases import call, list_imports
from tests.support.console.wizard_steps import check, choose, create_case, wait_until_arrived, wizard

pytestmark = pytest.mark.slow

# How long the zip of 20,001 files may be expanded on a machine that does much else.
DOCUMENTS, EXPANSION_S = 10_000, 700
BYTES = int(os.environ.get("CONSOLE_LARGE_BYTES", "250_000_000"))
PART, BLOCK = 16_000_000, 1_000_000
GONE = "The connection is gone. The upload continues when it is back."
# Counts the turns of the event loop, and in `most` the paths and files that were read in one.
COUNT_TURNS = """() => {
  const turns = (window.turns = { all: 0, reads: 0, most: 0 });
  const path = Object.getOwnPropertyDescriptor(File.prototype, "webkitRelativePath");
  Object.defineProperty(File.prototype, "webkitRelativePath", { get() { turns.reads++; return path.get.call(this); } });
  const read = Blob.prototype.arrayBuffer;
  Blob.prototype.arrayBuffer = function () { turns.reads++; return read.call(this); };
  let before = 0;
  const turn = () => {
    turns.most = Math.max(turns.most, turns.reads - before);
    [turns.all, before] = [turns.all + 1, turns.reads];
    setTimeout(turn);
  };
  turn();
}"""


@contextmanager
def cut_wizard(browser: Browser, stack: LocalStack) -> Iterator[tuple[Window, Network]]:
    """Yield the wizard, and its network; that requests are lost is no fault of the page."""
    with cut_network() as (network, url), wizard(browser, stack, proxy={"server": url}) as window:
        yield window, network
        network.restore()
        window.faults[:] = [fault for fault in window.faults if "net::ERR_" not in fault]


def write_file(path: Path, size: int) -> str:
    """Write a load file that is mostly a hole, and whose parts all differ; returns its SHA-256."""
    digest = hashlib.sha256()
    with path.open("w+b") as file:
        file.write(b"Control Number,Title\nL-1,First\n")
        for at in range(BLOCK, size, BLOCK):
            file.seek(at)
            file.write(b"\nL-%d,Line at this byte\n" % at)
        file.truncate(size)
        file.seek(0)
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def write_folder(parent: Path, documents: int, size: int = 0) -> dict[str, str]:
    """Write a volume of a native and a text for each document; returns the SHA-256 of every file by its path."""
    rows = ["Control Number,Title,Native Link,Text Link"]
    files = {}
    for each in range(documents):
        native, words = f"NATIVES/{each // 1000:03}/B{each:06}.bin", f"TEXT/{each // 1000:03}/B{each:06}.txt"
        rows.append(f"B{each:06},Document {each},{native},{words}")
        files[native] = hashlib.sha512(b"%d" % each).digest() + bytes(size)
        files[words] = b"Text of document %d\n" % each
    files["DATA/large.csv"] = "\n".join(rows).encode()
    for path, data in files.items():
        (parent / path).parent.mkdir(parents=True, exist_ok=True)
        (parent / path).write_bytes(data)
    return {f"{parent.name}/{path}": hashlib.sha256(data).hexdigest() for path, data in files.items()}


def hash_stored(stack: LocalStack, case: str) -> str:
    """Return the SHA-256 of the load file of the only import of a case, read from the bucket."""
    [found] = list_imports(stack, case)
    listed = stack.s3.list_objects_v2(Bucket=stack.bucket, Prefix="imports/")["Contents"]
    [key] = [each["Key"] for each in listed if each["Key"].endswith(found["fileName"])]
    body, digest = stack.s3.get_object(Bucket=stack.bucket, Key=key)["Body"], hashlib.sha256()
    for block in body.iter_chunks(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def read_hashes(stack: LocalStack, volume_id: int) -> dict[str, str]:
    """Return what the database has as the SHA-256 of each file of a volume."""
    rows = text("SELECT path, LOWER(HEX(sha256)) AS sha256 FROM volume_files WHERE volume_id = :id")
    engine = create_engine(stack.database_url)
    with engine.connect() as connection:
        found = {str(each.path): str(each.sha256) for each in connection.execute(rows, {"id": volume_id})}
    engine.dispose()
    return found


def read_heap(page: Page) -> int:
    """Return the megabytes of JavaScript objects, after a collection of garbage."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return int(session.send("Runtime.getHeapUsage")["usedSize"] / 1e6)


@pytest.mark.timeout(4 * EXPANSION_S)
def test_20_000_files_arrive_as_they_are(browser: Browser, console_stack: LocalStack, tmp_path: Path) -> None:
    """The page stays responsive: its event loop turns after at most some hundred of 20,001 files, and Pause works."""
    files, case = write_folder(tmp_path / "VOL20000", DOCUMENTS, 2_000), "Volume of 20,001 files"
    with wizard(browser, console_stack) as window:
        page = window.page
        heap, began = [read_heap(page)], time.monotonic()
        page.evaluate(COUNT_TURNS)
        choose(page, tmp_path / "VOL20000")
        expect(page.get_by_text("20,001 files").first).to_be_visible()
        create_case(page, case)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("The upload is paused.").first).to_be_visible()
        heap.append(read_heap(page))
        with page.expect_response(re.compile(r"/volumes/\d+/import$"), timeout=EXPANSION_S * 1000):
            page.get_by_role("button", name="Resume").click()
            wait_until_arrived(page, EXPANSION_S)
        heap.append(read_heap(page))
        sent, turns, volume_id = time.monotonic(), page.evaluate("turns"), int(page.url.rpartition("/")[2])
        console_stack.wait_until_idle(EXPANSION_S)
        check(page)
        page.get_by_role("button", name=f"Import {DOCUMENTS:,} rows", exact=True).click()
        expect(page.get_by_text("Every row of the file is in the case.").first).to_be_visible()
        ended = time.monotonic()
    print(f"{len(files):,} files: sent in {sent - began:.0f} s, imported after {ended - began:.0f} s;", end=" ")
    print(f"heap {heap} MB; {turns['all']} turns of the event loop, at most {turns['most']} reads in one")
    assert turns["reads"] > 2 * len(files)
    assert turns["most"] < 2_000
    assert read_hashes(console_stack, volume_id) == files
    [found] = call(console_stack, "GET", f"/cases?prefix={quote(case)}")["items"]
    assert (found["documents"], len(list_imports(console_stack, case))) == (DOCUMENTS, 1)


def test_a_large_file_arrives_although_the_network_is_cut_three_times(
    browser: Browser, console_stack: LocalStack, tmp_path: Path
) -> None:
    """Once the browser knows that it has none, twice connections are reset; only what was on its way is sent again."""
    file, parts = tmp_path / "large.csv", -(-BYTES // PART)
    expected, began = write_file(file, BYTES), time.monotonic()
    with cut_wizard(browser, console_stack) as (window, network):
        page = window.page
        network.cut_in(parts // 4)
        choose(page, file)
        create_case(page, "Large file")
        for number in (1, 2, 3):
            network.wait_for_cut(PATIENCE_MS / 1000)
            # The parts stand still, and the page has its draft before it has no network.
            expect(page.get_by_role("progressbar", name="Upload")).to_be_visible()
            if number == 2:
                page.context.set_offline(True)
            else:
                network.reset()
            expect(page.get_by_text(GONE).first).to_be_visible()
            network.cut_in((number + 1) * parts // 4 if number < 3 else 0)
            network.restore()
            page.context.set_offline(False)
        wait_until_arrived(page)
        heap, ended = read_heap(page), time.monotonic()
    print(f"{BYTES:,} bytes in {parts} parts: {ended - began:.0f} s, heap {heap} MB; at 3 cuts", end=" ")
    print(f"{network.in_flight.total()} parts were on their way, and {network.repeated.total()} were sent again")
    assert set(network.sent) == set(range(1, parts + 1))
    assert network.repeated <= network.in_flight
    assert hash_stored(console_stack, "Large file") == expected


@pytest.mark.parametrize("route", ["files", "import"])
def test_an_upload_goes_on_after_a_new_sign_in(
    browser: Browser, console_stack: LocalStack, tmp_path: Path, route: str
) -> None:
    """The token ends before the second files are announced, or before the volume is closed; nothing is sent twice."""
    files, case = write_folder(tmp_path / "VOL001", 150), f"Session that ends at {route}"
    expired = f"Bearer {console_stack.tokens.issue('local', 'me', -1)}"
    requests = Counter[str]()
    refused: set[str] = set()

    def end_session(sent: Route) -> None:
        token, path = sent.request.headers.get("authorization", ""), sent.request.url.partition("?")[0]
        requests[name := f"{sent.request.method} {path.rpartition('/')[2]}"] += 1
        if name == f"POST {route}" and not refused and requests["POST files"] > 1:
            refused.add(token)
        sent.continue_(headers={**sent.request.headers, "authorization": expired} if token in refused else None)

    with wizard(browser, console_stack) as window:
        page = window.page
        sent = Counter[str]()
        page.on("request", lambda each: sent.update([each.url.partition("?")[0]] if each.method == "PUT" else []))
        page.route(re.compile(r"/volumes(/|$)"), end_session)
        choose(page, tmp_path / "VOL001")
        create_case(page, case)
        expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
        for _ in range(2):  # The browser lets a page prevent the first Escape alone.
            page.keyboard.press("Escape")
        expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
        assert requests["POST volumes"] == 1
        page.get_by_role("button", name="Sign in again").click()
        wait_until_arrived(page)
        check(page)
        # The page repeats requests that are answered with 429 or 503.
        assert [fault for fault in window.faults if not re.search("status of (401|429|503)", fault)] == []
        window.faults.clear()
    stored = {url: count for url, count in sent.items() if any(url.endswith(path) for path in files)}
    assert len(stored) == len(files)
    assert set(stored.values()) == {1}
    assert (len(refused), requests["POST volumes"], len(list_imports(console_stack, case))) == (1, 1, 1)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_after_a_reload_only_what_was_on_its_way_is_sent_again(
    browser: Browser, console_stack: LocalStack, tmp_path: Path, kind: str
) -> None:
    """The folder has too many files to be sent one by one: its zip is made again, and its parts are compared."""
    chosen, case = tmp_path / ("again" if kind == "folder" else "again.csv"), f"Reload of a {kind}"
    files = write_folder(chosen, 1_001, 170_000) if kind == "folder" else {"": write_file(chosen, 170_000_000)}
    with cut_wizard(browser, console_stack) as (window, network):
        page = window.page
        network.cut_in(9)
        choose(page, chosen)
        create_case(page, case)
        network.wait_for_cut(PATIENCE_MS / 1000)
        page.reload()
        expect(page.get_by_text(f"Choose {chosen.name} again to go on.")).to_be_visible()
        network.restore()
        choose(page, chosen)
        wait_until_arrived(page)
        if kind == "folder":
            check(page)
        place = page.url
    assert network.repeated <= network.in_flight
    assert set(network.sent) == set(range(1, 12))
    if kind == "file":
        assert hash_stored(console_stack, case) == files[""]
    else:
        assert read_hashes(console_stack, int(place.rpartition("/")[2])) == files
