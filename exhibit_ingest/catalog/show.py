"""The command `show`: everything about one document."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from exhibit_ingest.catalog.change_rows import describe_line
from exhibit_ingest.catalog.columns import DATES, to_camel
from exhibit_ingest.catalog.finding import find_document
from exhibit_ingest.catalog.values import format_date, format_names
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.session.output import format_json, name_snake, to_snake
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session

_LONGEST_NAME, _LONGEST_VALUE = 40, 100_000
# What stands in other words elsewhere, or is for programs.
_APART = frozenset(
    {
        *("id", "caseId", "custodians", "tags", "properties", "datePrecision", "documentDateSource", "pageCount"),
        *("productionNumbers", "hasExtractedText", "importId", "line", "version", "parentStatedBy"),
    }
)
_MOST_PAGES, _MOST_FAMILY = 20, 50
_STATES = {"stored": "there", "missing": "missing", "path_only": "not looked up"}


def print_document(session: Session, options: argparse.Namespace) -> int:
    """Print the document. Raises CommandError."""
    listed = find_document(session, options.case, options.control_number)
    document = read_document(session, options.case, listed)
    if options.json:
        document = {**document, "files": [_drop_url(each) for each in document["files"]]}
        print(format_json({"document": to_snake(document)}))
        return DONE
    rows = [(shorten_printable(name, _LONGEST_NAME), value) for name, value in _list_rows(document)]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {shorten_printable(value, _LONGEST_VALUE)}".rstrip())
    return DONE


def read_document(session: Session, case: str, listed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document as the API has it, with its files, its family, and its first and last change."""
    path = f"/exhibits/{listed['id']}"
    family = {"case": case, "family": listed["controlNumber"]}
    newest = list(iterate(session.api, f"{path}/changes", 1))
    return {
        **session.api.request("GET", path),
        "files": list(iterate(session.api, f"{path}/files")),
        "family": [each["controlNumber"] for each in iterate(session.api, "/exhibits", **family)],
        "imported": next(iterate(session.api, f"{path}/changes", 1, order="asc"), None),
        "changed": newest[0] if newest and listed["version"] > 1 else None,
    }


def _drop_url(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file without its URL, which works for everyone who has it."""
    return {name: value for name, value in file.items() if name not in ("url", "expiresInSeconds")}


def _list_rows(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if name not in _APART and isinstance(value, str):
            field = name_snake(name)
            is_date = field in DATES
            yield field.replace("_", " "), _describe_date(document, field) if is_date else value
    yield "custodians", format_names(document["custodians"])
    yield "tags", format_names(document["tags"])
    if len(document["family"]) > 1:
        yield "family", _list_some(document["family"], _MOST_FAMILY)
    for number in document["productionNumbers"]:
        yield "also delivered as", " - ".join(dict.fromkeys((number["batesBegin"], number["batesEnd"] or "")))
    for name, value in document["properties"].items():
        yield f"property {name}", value or ""
    yield from _list_files(document)
    for name in ("imported", "changed"):
        if change := document[name]:
            line = describe_line(change)
            yield name, f"{line['when']} by {line['who'] or 'a user who is not known'}: {line['what']}"


def _describe_date(document: Mapping[str, Any], field: str) -> str:
    precision = document["datePrecision"].get(field)
    return format_date(document[to_camel(field)], precision) + (" UTC" if precision == "utc_time" else "")


def _list_files(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    files = document["files"]
    for each in files:
        if each["kind"] in ("native", "text"):
            yield f"{each['kind']} file", _describe_file(each)
    pages = [each for each in files if each["kind"] not in ("native", "text")]
    missing = sum(each["state"] == "missing" for each in pages)
    yield "pages", f"{len(pages):,}" + (f", of which {missing:,} have no file" if missing else "")
    if missing:
        yield "pages without a file", _describe_numbers([each["page"] for each in pages if each["state"] == "missing"])


def _describe_file(file: Mapping[str, Any]) -> str:
    if file["path"] is None:
        return "in cells of the load file"
    size = "" if file["size"] is None else f", {file['size']:,} bytes"
    return f"{file['path']} ({_STATES[file['state']]}{size})"


def _list_some(names: list[str], most: int) -> str:
    more = len(names) - most
    return format_names(names[:most]) + (f"; and {more:,} more" if more > 0 else "")


def _describe_numbers(numbers: list[int]) -> str:
    """Return numbers in their order as ranges: 1-3, 7."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number])
    named = ["-".join(map(str, each)) for each in ranges[:_MOST_PAGES]]
    return ", ".join(named) + (" ..." if len(ranges) > _MOST_PAGES else "")
