"""Argument types for argparse that the benchmarks share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError


def number(least: int, most: int) -> Callable[[str], int]:
    """Return a type that accepts numbers from `least` to `most`."""

    def within(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return within


count = number(1, 1_000)


def server_url(text: str) -> str:
    """Return the URL of a database server; raises ArgumentTypeError where it has another driver than mysql+pymysql."""
    try:
        driver = make_url(text).drivername
    except ArgumentError:
        driver = ""
    if driver != "mysql+pymysql":
        raise argparse.ArgumentTypeError("use the form mysql+pymysql://user:password@host:3306/?charset=utf8mb4")
    return text


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add `--database-url` to the parser."""
    parser.add_argument(
        "--database-url",
        type=server_url,
        default=os.environ.get("DATABASE_URL") or None,
        metavar="URL",
        help="database server (default: DATABASE_URL, else a private server)",
    )
