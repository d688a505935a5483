"""The argument that says what the sender's letter says, to be compared with what came."""

from __future__ import annotations

import argparse

from exhibit_ingest.import_request import Expected

COUNTS = ("documents", "pages", "natives", "texts")
_BATES = "bates"

EXPECTED_HELP = """\
--expect compares an import or check with the letter that came with the production:
  exhibit-ingest import VOL001 --case acme --expect documents=300,pages=520,natives=292,bates=SMITH0000001-SMITH0000520
documents: rows that are in the case, or would be; pages: lines of the OPT or LFP file that are; natives and texts: the
files that were found, or for a load file alone, the paths that its rows name; bates: the first and the last Bates
number, which a check does not know. What differs is printed as a table, and the exit status is 1.

"""


def add_expect_argument(parser: argparse.ArgumentParser) -> None:
    """Add --expect."""
    parser.add_argument(
        "--expect",
        type=parse_expected,
        metavar="WHAT",
        help="what the sender's letter says, such as documents=300,pages=520,natives=292,texts=300,bates=A001-A520: "
        "exit status 1 and a table if something differs",
    )


def parse_expected(text: str) -> Expected:
    """Return what is expected; raise argparse.ArgumentTypeError with the form for another text."""
    values: dict[str, object] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        name = name.strip()
        if name in values:
            raise argparse.ArgumentTypeError(f"{name} is given twice")
        values[name] = _parse_value(name, value.strip())
    return Expected(**values)  # type: ignore[arg-type]


def _parse_value(name: str, value: str) -> object:
    if name in COUNTS and value.isascii() and value.isdigit():
        return int(value)
    if name == _BATES and (found := _split_range(value)):
        return found
    raise argparse.ArgumentTypeError(
        f"{name}={value} is not one of documents=N, pages=N, natives=N, texts=N and bates=FIRST-LAST"
    )


def _split_range(text: str) -> tuple[str, str] | None:
    """Return both ends of a range, which may have hyphens too: of the same prefix, if a hyphen leaves such ends."""
    halves = [(text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == "-"]
    ends = [pair for pair in halves if all(each[-1:].isdigit() for each in pair)]
    return next((pair for pair in ends if len({_strip_number(each) for each in pair}) == 1), next(iter(ends), None))


def _strip_number(text: str) -> str:
    return text.rstrip("0123456789")
