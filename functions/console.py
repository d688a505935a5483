"""Serve the console: the page, its files, and what the page has to know of this deployment."""

from pathlib import Path
from typing import Any

from shell.console.files import respond
from shell.settings import console_settings

FILES = Path(__file__).parent / "console_files"


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return the file that the path names, or the page. The route needs no token: the files hold no evidence."""
    return respond(event["rawPath"], FILES, console_settings())
