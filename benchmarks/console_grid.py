"""`python -m benchmarks.console_grid`: the grid of documents of the console over a case of a million, in Chromium.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.arguments import add_server, count, number
from benchmarks.console_keys import tag_by_keys
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.large_case import REJECTED, TENANT, format_number, write_case
from benchmarks.output import DONE, percentile_ms, run_command, run_measurement, table
from local.stack import LocalStack, StackOptions

if TYPE_CHECKING:
    from playwright.sync_api import Page

_DESCRIPTION = """\
Serves the whole application on this machine with a case of a million documents, opens the page of its documents in
Chromium (make .venv/.browser console), and measures: the time from the navigation to the first row; the frames while
the list is scrolled from its start to its end, by steps of a drag and by steps of a wheel; the time from a jump of the
scrollbar to the last row in view, and whether every row is the one of its position; the times of all answers with
documents or samples; the memory of the page after some minutes of wheel and jumps, garbage collected; and by keys
alone, the time from the filters to a tagged document. The load is the average of a minute that the machine had before
and after: other work makes every figure worse."""
_SEED = 43
_TIMEOUT_MS = 120_000
_ROW = ".grid-body [role=row] a"
# Scrolls by steps, one a frame, and returns the milliseconds between frames.
_SCROLL = """async ([steps, by]) => {
  const grid = document.querySelector(".grid"), frames = [];
  const step = by ?? (grid.scrollHeight - grid.clientHeight) / steps;
  let last = await new Promise(requestAnimationFrame);
  for (let at = 0; at < steps; at++) {
    grid.scrollTop += step;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
# Moves the scrollbar to a share of the list, and returns the milliseconds until all rows in view are read, and these.
_JUMP = """async (share) => {
  const grid = document.querySelector(".grid"), began = performance.now();
  grid.scrollTop = Math.round((grid.scrollHeight - grid.clientHeight) * share);
  const rows = () => [...document.querySelectorAll(".grid-body [role=row]")];
  for (let at = 0; at < 3; at++) await new Promise(requestAnimationFrame);
  while (rows().some((row) => !row.querySelector("a"))) await new Promise(requestAnimationFrame);
  const took = performance.now() - began;
  return [took, rows().map((row) => [Number(row.getAttribute("aria-rowindex")) - 1, row.querySelector("a").innerText])];
}"""
_ANSWERS = """() => performance.getEntriesByType("resource")
  .filter((each) => /[/]exhibits([?]|[/]keys)/.test(each.name)).map((each) => each.duration)"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        before = os.getloadavg()[0]
        with temporary_database(options.database_url) as database:
            write_case(database, options.documents)
            # Its chunks say that they have created documents, which the page would count.
            database.query("UPDATE import_chunks SET imported = 0 WHERE import_id = :id", id=REJECTED)
            with _open_page(database) as page:
                figures = _measure(page, options)
            head = {"server": database.server(), "documents": options.documents}
        load = f"{before:.0f} to {os.getloadavg()[0]:.0f}"
        result = {**head, "load": load, **figures}
        print(
            json.dumps(result) if options.json else table(["figure", "value"], [[k, str(v)] for k, v in result.items()])
        )
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


@contextmanager
def _open_page(database: Database) -> Iterator[Page]:
    """Yield a page that is signed in as a user of the benchmark's tenant."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as exc:
        raise BenchmarkError("Playwright is missing: make .venv/.browser") from exc
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise BenchmarkError("chromium is missing: sudo apt-get install --no-install-recommends chromium")
    options = StackOptions(database_url=database.environment["DATABASE_URL"], poll_events=False, minimal=True)
    with (
        tempfile.TemporaryDirectory(prefix="exhibit-ingest-") as folder,
        LocalStack(Path(folder), options) as stack,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--enable-precise-memory-info"]
        )
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(_TIMEOUT_MS)
        page.goto(stack.console_url)
        page.get_by_role("button", name="Change user").click()
        page.get_by_label("Tenant").fill(TENANT)
        page.get_by_role("dialog").get_by_role("button", name="Change user").click()
        page.get_by_text("Large case").wait_for()
        page.goto(f"{stack.console_url.partition('#')[0]}cases/1/documents")
        yield page
        browser.close()


def _measure(page: Page, options: argparse.Namespace) -> dict[str, Any]:
    first_row = sorted(_load(page) for _ in range(options.loads))
    page.wait_for_function(f"document.querySelector('.grid').ariaRowCount === '{options.documents + 1}'")
    page.evaluate("performance.setResourceTimingBufferSize(100000)")
    page.wait_for_timeout(2_000)
    drag = sorted(page.evaluate(_SCROLL, [options.frames, None]))
    page.evaluate("document.querySelector('.grid').scrollTop = 0")
    wheel = sorted(page.evaluate(_SCROLL, [options.frames, 400]))
    places = random.Random(_SEED)
    jumps = sorted(_jump(page, places.random()) for _ in range(options.jumps))
    page.evaluate(_JUMP, 0.5)
    after_jump = sorted(page.evaluate(_SCROLL, [options.frames, 400]))
    until = time.monotonic() + 60 * options.minutes
    while time.monotonic() < until:
        _jump(page, places.random())
        page.evaluate(_SCROLL, [60, 400])
    answers = sorted(each / 1000 for each in page.evaluate(_ANSWERS))
    return {
        "first row, median ms": round(1000 * median(first_row)),
        "first row, worst ms": round(1000 * first_row[-1]),
        **_describe_frames("drag", drag),
        **_describe_frames("wheel", wheel),
        "jump, median ms": round(1000 * median(jumps)),
        "jump, p95 ms": round(percentile_ms(jumps, 0.95)),
        "jump, worst ms": round(1000 * jumps[-1]),
        **_describe_frames("wheel after a jump", after_jump),
        "answers": len(answers),
        "answers, median ms": round(1000 * median(answers)),
        "answers, p95 ms": round(percentile_ms(answers, 0.95)),
        "minutes of scrolling": options.minutes,
        "heap afterwards, MB": round(_read_heap(page) / 1e6, 1),
        "elements of the page": page.evaluate("document.querySelectorAll('*').length"),
        **tag_by_keys(page),
    }


def _describe_frames(name: str, frames: Sequence[float]) -> dict[str, int | float]:
    return {
        f"{name}, frames a second": round(1000 * len(frames) / sum(frames), 1),
        f"{name}, median frame ms": round(median(frames), 1),
        f"{name}, worst frame ms": round(frames[-1]),
    }


def _load(page: Page) -> float:
    """Load the page again, and return the seconds until it has a row."""
    began = time.perf_counter()
    page.reload(wait_until="commit")
    page.wait_for_selector(_ROW)
    return time.perf_counter() - began


def _jump(page: Page, share: float) -> float:
    """Move the scrollbar, and return the seconds until all rows are read. Raises BenchmarkError for a wrong row."""
    took, rows = page.evaluate(_JUMP, share)
    wrong = [row for row in rows if row[1] != format_number(row[0])]
    if wrong or not rows:
        raise BenchmarkError(f"rows are not at their positions: {wrong[:3]}")
    return float(took) / 1000


def _read_heap(page: Page) -> float:
    """Return the bytes of the page's heap after a garbage collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["JSHeapUsedSize"])


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.console_grid", None, _DESCRIPTION, formatter_class=keep, allow_abbrev=False
    )
    add_server(made)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    documents = "documents of the case, rounded down to a multiple of ten (default: 1000000)"
    made.add_argument("--documents", type=number(1_000, 10_000_000), default=1_000_000, metavar="N", help=documents)
    made.add_argument("--loads", type=count, default=5, metavar="N", help="loads of the page (default: 5)")
    made.add_argument("--frames", type=count, default=600, metavar="N", help="frames of each scrolling (default: 600)")
    made.add_argument("--jumps", type=count, default=40, metavar="N", help="jumps of the scrollbar (default: 40)")
    minutes = "minutes of scrolling before the memory is read (default: 10)"
    made.add_argument("--minutes", type=number(0, 600), default=10, metavar="N", help=minutes)
    return made


if __name__ == "__main__":
    run_command(main)
