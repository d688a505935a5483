"""The options that select documents, and the filters of the API that they are."""

from __future__ import annotations

import argparse
from typing import Any

from exhibit_ingest.arguments import parse_id

# By option: the filter of the API, and what its value is.
FILTERS = {
    "control_number": "controlNumber",
    "custodian": "custodian",
    "tag": "tagTree",
    "without_tag": "withoutTag",
    "family": "family",
    "import_id": "importId",
    "date_from": "dateFrom",
    "date_to": "dateTo",
    "bates_from": "batesFrom",
    "bates_to": "batesTo",
    "native": "hasNative",
    "text": "hasText",
    "images": "hasImages",
    "title": "title",
    "confidentiality": "confidentiality",
}


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that select documents; all that are given must hold."""
    group = parser.add_argument_group("filters (all must match)")
    add = group.add_argument
    add("--control-number", metavar="N", help="only the document with this control number")
    add("--custodian", metavar="NAME", action="append", help="only documents of this custodian; repeat it for several")
    add(
        *("--tag",),
        metavar="NAME",
        action="append",
        help=r"only documents with this tag or one in it: Hot finds Hot\Really Hot; repeat it for several",
    )
    add("--without-tag", metavar="NAME", help="only documents without this tag")
    add("--family", metavar="N", help="only the family of the document with this control number")
    add("--import", dest="import_id", type=parse_id, metavar="ID", help="only documents that this import created")
    add("--date-from", metavar="DAY", help="only documents of this day (UTC) or later: 2019-12-31")
    add("--date-to", metavar="DAY", help="only documents of this day (UTC) or earlier")
    add("--bates-from", metavar="N", help="only documents with Bates numbers from this one on")
    add("--bates-to", metavar="N", help="only documents with Bates numbers up to this one")
    for name, what in (
        ("native", "a native file; one that its volume lacks is not there"),
        ("text", "a text, in a file or in cells of the load file"),
        ("images", "pages of an image load file"),
    ):
        action = argparse.BooleanOptionalAction
        add(f"--{name}", action=action, help=f"only documents with, or without, {what}")
    add("--title", metavar="WORDS", help="only documents whose title has all of these words")
    add("--confidentiality", metavar="TEXT", help="only documents with this confidentiality")


def collect_filters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the filters that are given, as the API has them in JSON."""
    given = {name: getattr(options, option) for option, name in FILTERS.items()}
    return {name: value for name, value in given.items() if value is not None}
