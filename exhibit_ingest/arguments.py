"""Arguments that several commands have."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from exhibit_ingest.windows_paths import convert_path, is_subsystem, propose_path, read_mount

_MOST_WORKERS = 64
DEFAULT_WORKERS = min(4, os.cpu_count() or 1)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add --workers."""
    parser.add_argument(
        "--workers",
        type=partial(parse_number, least=1, most=_MOST_WORKERS, expected=f"a number from 1 to {_MOST_WORKERS}"),
        metavar="N",
        help="on the stack of this machine: worker processes per function (default: one a processor, at most 4)",
    )


def parse_number(text: str, least: int, most: int, expected: str) -> int:
    """Return the number; raise argparse.ArgumentTypeError, with what is expected, for another text."""
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return int(text)


def parse_id(text: str, kind: str = "an import, which `imports` lists") -> int:
    """Return the number of an object of the API; raise argparse.ArgumentTypeError, with its kind."""
    return parse_number(text, 1, 2**63 - 1, f"the number of {kind}")


def parse_path(text: str) -> Path:
    r"""Return the path; raise argparse.ArgumentTypeError for one of Windows that is typed in its subsystem for Linux.

    There, D:\Loads would name a file of the current folder, to read and to write.
    """
    proposal = propose_path(text, mount=read_mount()) if convert_path(text) and is_subsystem() else None
    if proposal:
        raise argparse.ArgumentTypeError(proposal)
    return Path(text)
