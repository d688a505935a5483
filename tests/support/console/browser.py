"""A browser for the tests of the console, and windows that collect what must not happen in any of them.

Where Chromium is missing, the tests are skipped with the command that installs it.
"""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from local.stack.options import REPOSITORY

INSTALL = "chromium is missing: sudo apt-get install --no-install-recommends chromium"
_AXE = REPOSITORY / "console" / "node_modules" / "axe-core" / "axe.min.js"
_COLLECT = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI || event.sample}`));
"""
# The heading of a page that has its data: one that waits for it is busy.
_HEADING = "h1:not([aria-busy] h1)"
# How long a window may take on a machine that does much else: a test fails for what it shows, not for when.
PATIENCE_MS = 180_000
DESK: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 800}
# Chromium's own sandbox needs what a container does not give, and what is tested here is confined by its policy.
_ARGUMENTS = ["--no-sandbox"]


@dataclass
class Window:
    """A page of the console; `faults` are violations of the policy, failed scripts and errors in the browser's log."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> None:
        """Open a place in the console, such as `imports/7`, and wait until its heading and data are there."""
        self.page.goto(f"{self.url.partition('#')[0]}{path}")
        self.page.wait_for_selector(_HEADING)

    def look(self) -> None:
        """Fail unless the page as it is now is accessible and no wider than its window: on a desk and on a phone, light
        and dark."""
        for size in (PHONE, DESK):
            self.page.set_viewport_size(size)
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                assert self.check_accessibility() == [], (size, scheme)
            assert self.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        self.page.emulate_media(color_scheme="null")

    def check_accessibility(self) -> list[str]:
        """Return the violations that axe finds on the page as it is now."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(_AXE.read_text(encoding="utf-8"))
        found: dict[str, Any] = self.page.evaluate("axe.run()")
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser; skips the test where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip(INSTALL)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_window(browser: Browser, url: str, **context: Any) -> Iterator[Window]:
    """Yield a window that signs in by this link; fails if it had a fault that the test did not take off its list."""
    with browser.new_context(**{"viewport": DESK, "locale": "en-US", **context}) as made:
        window = Window(_observe(made), url)
        _listen(window)
        window.page.goto(url)
        window.page.wait_for_selector(_HEADING)
        yield window
        window.faults += window.page.evaluate("window.violations")
    assert window.faults == []


def _observe(context: BrowserContext) -> Page:
    context.add_init_script(_COLLECT)
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    return context.new_page()


def _listen(window: Window) -> None:
    window.page.on("pageerror", lambda error: window.faults.append(str(error)))

    def keep(message: ConsoleMessage) -> None:
        if message.type == "error":
            window.faults.append(message.text)

    window.page.on("console", keep)


def become_viewer(page: Page) -> None:
    """Sign in anew with the role of a viewer."""
    page.get_by_role("button", name="Change user").click()
    page.get_by_label("Role").select_option("viewer")
    page.get_by_role("dialog").get_by_role("button", name="Change user").click()
    expect(page.get_by_text("me · viewer")).to_be_visible()


def accept_dialogs(page: Page) -> list[str]:
    """Accept what the page has the browser confirm from now on, and return the list that gets the kind of each."""
    kinds: list[str] = []

    def accept(dialog: Dialog) -> None:
        kinds.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    return kinds


def budget(files: Path, names: Sequence[str]) -> int:
    """Return how many bytes of these files a browser loads, each compressed as it is sent."""
    return sum(len(gzip.compress((files / name).read_bytes(), mtime=0)) for name in names)


def first_load(files: Path) -> list[str]:
    """Return the files that the page loads before anything is clicked: itself, its scripts and styles."""
    page = (files / "index.html").read_text(encoding="utf-8")
    return ["index.html", *re.findall(r'(?:src|href)="/console/([^"]+)"', page)]


def store_cases(window: Window, names: Sequence[str]) -> None:
    """Create cases through the API, as the user of the window."""
    script = """async (names) => {
      const { idToken } = await (await fetch("/console/token", {method: "POST", headers: {"Content-Type":
        "application/json"}, body: JSON.stringify({tenant: "local", user: "me", role: "admin", key: ""})})).json();
      for (const name of names) {
        const answer = await fetch("/cases", {method: "POST", headers: {Authorization: `Bearer ${idToken}`,
          "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID()}, body: JSON.stringify({name})});
        if (!answer.ok) throw new Error(await answer.text());
      }
    }"""
    window.page.evaluate(script, list(names))
