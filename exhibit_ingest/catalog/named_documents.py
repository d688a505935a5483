"""Documents that a command names: by control numbers, by a file of these, by filters, or all of the case."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

from exhibit_ingest.arguments import parse_path
from exhibit_ingest.catalog.filters import collect_filters
from exhibit_ingest.errors import WrongUsageError

# Some 1,000,000 numbers: a larger file is another one than was meant.
_LARGEST_FILE = 50_000_000
_STDIN = "-"


def add_names(parser: argparse._ActionsContainer) -> None:
    """Add the control numbers, --from-file and --all."""
    parser.add_argument("control_numbers", nargs="*", metavar="CONTROL_NUMBER", help="documents, by their numbers")
    parser.add_argument(
        "--from-file",
        type=parse_path,
        metavar="FILE",
        help="a file with a control number on each line; - for standard input",
    )
    parser.add_argument("--all", action="store_true", help="all documents of the case")


def check_names(options: argparse.Namespace) -> bool:
    """Return whether the documents are named by numbers; raise WrongUsageError unless they are named in one way."""
    is_named = bool(options.control_numbers or options.from_file)
    if sum((is_named, options.all, bool(collect_filters(options)))) != 1:
        raise WrongUsageError(
            "Say which documents in one way: control numbers (or --from-file), filters such as --tag, or --all for the"
            " whole case."
        )
    return is_named


def read_numbers(options: argparse.Namespace) -> list[str]:
    """Return the control numbers of the options and of their file, each once; raise WrongUsageError for a bad file."""
    found = list(options.control_numbers)
    if options.from_file is not None:
        found += _read_file(options.from_file)
    return list(dict.fromkeys(found))


def _read_file(path: Path) -> list[str]:
    """Return the lines without spaces around them."""
    try:
        if str(path) == _STDIN:
            text = _read_text(sys.stdin.buffer, "The standard input")
        else:
            with path.open("rb") as file:
                text = _read_text(file, str(path))
    except OSError as exc:
        raise WrongUsageError(f"{path} cannot be read ({exc.strerror}). Check its path.") from exc
    numbers = [line.strip() for line in text.splitlines() if line.strip()]
    if not numbers:
        raise WrongUsageError(f"{path} has no control number. Write one on each line.")
    return numbers


def _read_text(file: BinaryIO, name: str) -> str:
    content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise WrongUsageError(f"{name} has more than 50 MB. Give one with a control number on each line.")
    try:
        return content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as exc:
        raise WrongUsageError(f"{name} is not a text in UTF-8 or UTF-16. Save it as one.") from exc
