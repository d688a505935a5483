"""Kinds of arguments that the benchmarks share; each is a `type` for argparse."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError


def number(least: int, most: int) -> Callable[[str], int]:
    """A number within bounds."""

    def within(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return within


count = number(1, 1_000)


def server_url(text: str) -> str:
    """The address of a server."""
    try:
        driver = make_url(text).drivername
    except ArgumentError:
        driver = ""
    if driver != "mysql+pymysql":
        raise argparse.ArgumentTypeError("write it as in mysql+pymysql://user:password@host:3306/?charset=utf8mb4")
    return text


def add_server(parser: argparse.ArgumentParser) -> None:
    """Give the parser `--database-url`."""
    parser.add_argument(
        "--database-url",
        type=server_url,
        default=os.environ.get("DATABASE_URL") or None,
        metavar="URL",
        help="the server (default: that of DATABASE_URL, else a private one)",
    )
