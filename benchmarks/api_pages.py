"""`python -m benchmarks.api_pages`: times and bytes of one page of a large case, for each filter, and of its imports.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from benchmarks.arguments import add_server, count, number
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.large_case import CASE, IMPORTS, OVERLAY, REJECTED, TENANT, format_number, write_case
from benchmarks.output import DONE, percentile_ms, run_command, run_measurement, table
from core.caller import Caller
from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitQuery
from core.pagination import encode_cursor
from shell.exhibits.listing import list_exhibits
from shell.imports.queries import get_progress
from shell.imports.results import get_codes, list_rejections

_DESCRIPTION = """\
Measures one page of `GET /exhibits` in a case of a million documents, by the code of the route with a database on this
machine: from the request's parameters to the bytes of the response, without HTTP. Each filter is measured in both
directions, each page from a random document of the case on (`from`), and once more with `count=true`; then the
progress, the codes and the rejections of an import of as many rows, every twentieth of them rejected. p50 and p95 are
of all pages of a filter and direction; short is how many of them ended with their search and are not full; reads is
how many rows and entries of indexes the server read for one of them at most, which other work on the machine does not
change; bytes is the largest response. The goal is a p95 of 200 ms."""
_SEED = 43
_CALLER = Caller(TENANT, "benchmark")
# From a position among the documents or rows to the response.
Request = Callable[[int], BaseModel]
_ORDERS: dict[str, dict[str, str]] = {"asc": {}, "desc": {"order": "desc"}, "count": {"count": "true"}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with temporary_database(options.database_url) as database:
            began = time.monotonic()
            write_case(database, options.documents)
            print(f"case written in {time.monotonic() - began:.0f} s", file=sys.stderr)
            rows = list(_measure_all(database, options))
            head = {"server": database.server(), "documents": options.documents, "limit": options.limit}
        print(json.dumps({**head, "pages": rows}) if options.json else _format(head, rows))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _list_queries(documents: int) -> dict[str, dict[str, Any]]:
    """Return the filters by what they select."""
    middle = 3 * documents // 2
    return {
        "whole case": {},
        "whole case, included": {"include": "custodians,tags"},
        "custodian of half": {"custodian": "half"},
        "custodian of a tenth": {"custodian": "tenth together"},
        "custodian of a thousandth": {"custodian": "thousandth"},
        "tag of a hundredth": {"tag": "hundredth"},
        "tag of a fifth at the end": {"tag": "fifth at the end"},
        "two tags and a custodian": {"tag": ["hundredth", "eleventh"], "custodian": "tenth together"},
        "without tag": {"withoutTag": "eleventh"},
        "import": {"importId": str(IMPORTS // 2)},
        "changed by import": {"changedByImport": str(OVERLAY)},
        "Bates range": {"batesFrom": f"ACME{middle}", "batesTo": f"ACME{middle + documents // 100}"},
        "control number": {"controlNumber": format_number(documents // 2)},
        "parent": {"parent": format_number(documents // 2 // 5 * 5 + 1)},
        "family": {"family": format_number(documents // 2)},
        "tag and images": {"tag": "hundredth", "hasImages": "false"},
        "tag and title": {"tag": "eleventh", "title": "meeting 77"},
        "import and natives": {"importId": str(IMPORTS // 2), "hasNative": "false"},
        "dates of a month": {"dateFrom": "2020-01-01", "dateTo": "2020-01-31"},
        "dates of none": {"dateFrom": "2030-01-01"},
        "no native": {"hasNative": "false"},
        "no text: none": {"hasText": "false"},
        "images": {"hasImages": "true"},
        "title of a thousandth": {"title": "meeting 777"},
        "title of none": {"title": "nothing"},
        "tag and title of none": {"tag": "eleventh", "title": "nothing"},
    }


def _list_requests(options: argparse.Namespace) -> Iterator[tuple[str, str, Request]]:
    """Yield what is measured: its name, the order, and the request of a page from a position on."""

    def list_from(query: dict[str, Any], position: int) -> BaseModel:
        place = {"case": CASE, "limit": options.limit, "from": format_number(position)}
        parsed = ExhibitQuery.model_validate({**place, **query})
        page = list_exhibits(_CALLER, parsed)
        _check(parsed, page)
        return page

    for name, query in _list_queries(options.documents).items():
        for order, more in _ORDERS.items():
            yield name, order, partial(list_from, {**query, **more})
    yield "progress of an import", "", lambda _: get_progress(_CALLER, REJECTED)
    yield "codes of an import", "", lambda _: get_codes(_CALLER, REJECTED)
    for name, code in (("rejections", None), ("rejections of a code", "MISSING_ID")):
        yield name, "", partial(_list_rejections, options.limit, code)


def _list_rejections(limit: int, code: str | None, position: int) -> BaseModel:
    return list_rejections(_CALLER, REJECTED, limit, encode_cursor(position, 0), code)


def _measure_all(database: Database, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name, order, request in _list_requests(options):
        if not options.only or name in options.only:
            row = {"filter": name, "order": order, **_measure(database, request, options)}
            print(*row.values(), file=sys.stderr, flush=True)
            yield row


def _measure(database: Database, request: Request, options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of pages that begin at random positions, the first one not counted."""
    places = random.Random(_SEED)
    seconds, reads, largest, items, short = list[float](), list[int](), 0, 0, 0
    for page_no in range(options.pages + 1):
        position = places.randint(1, options.documents)
        before, began = _count_reads(database), time.perf_counter()
        page = request(position)
        body = page.model_dump_json(by_alias=True)
        seconds += [time.perf_counter() - began] if page_no else []
        reads += [_count_reads(database) - before] if page_no else []
        largest, items = max(largest, len(body.encode())), items + len(getattr(page, "items", "1"))
        short += page_no > 0 and getattr(page, "searched", None) is not None
    ordered = sorted(seconds)
    return {
        "p50_ms": round(percentile_ms(ordered, 0.5), 1),
        "p95_ms": round(percentile_ms(ordered, 0.95), 1),
        "reads": max(reads),
        "bytes": largest,
        "items": items,
        "short": short,
    }


def _count_reads(database: Database) -> int:
    """Return how often the server has read a row or an entry of an index since it started."""
    return sum(int(row[1]) for row in database.query("SHOW GLOBAL STATUS LIKE 'Handler_read%'"))


def _check(query: ExhibitQuery, page: ExhibitPage) -> None:
    numbers = [each.control_number for each in page.items]
    if numbers != sorted(numbers, reverse=query.order == "desc") or len(numbers) > query.limit:
        raise BenchmarkError(f"a page is not in order: {query}")


def _format(head: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    title = ", ".join(f"{name}: {value}" for name, value in head.items())
    return f"{title}\n\n{table([*rows[0]], [[*map(str, row.values())] for row in rows])}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.api_pages", None, _DESCRIPTION, formatter_class=keep, allow_abbrev=False
    )
    add_server(made)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    documents = "documents of the case, rounded down to a multiple of ten (default: 1000000)"
    made.add_argument("--documents", type=number(100, 10_000_000), default=1_000_000, metavar="N", help=documents)
    made.add_argument("--limit", type=number(1, 500), default=100, metavar="N", help="items of a page (default: 100)")
    made.add_argument("--pages", type=count, default=40, metavar="N", help="pages of each filter (default: 40)")
    made.add_argument("--only", nargs="+", metavar="FILTER", help="only these filters, as the first column has them")
    return made


if __name__ == "__main__":
    run_command(main)
