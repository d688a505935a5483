"""The commands `tag` and `untag`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from exhibit_ingest.catalog.filters import collect_filters
from exhibit_ingest.catalog.finding import list_following, require_names
from exhibit_ingest.catalog.named_documents import check_names, read_numbers
from exhibit_ingest.catalog.progress import Line
from exhibit_ingest.catalog.tagging_job import Tagging, run_job
from exhibit_ingest.catalog.values import quote
from exhibit_ingest.confirmation import ask, require_terminal
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED
from exhibit_ingest.session.output import format_count, format_json
from exhibit_ingest.session.pages import build_query, iterate
from exhibit_ingest.session.session import Session

_CONNECTIONS = 4
# Of one request of the API.
_MOST_EXHIBITS = 1_000
_MOST_NAMED = 10


def check_selection(options: argparse.Namespace) -> None:
    """Raise WrongUsageError unless the options name documents in one way, and a question can be answered."""
    is_named = check_names(options)
    if is_named or options.yes:
        return
    if options.json:
        raise WrongUsageError(f"{options.command} --json does not ask: confirm filters with --yes.")
    advice = f"{options.command} changes all that match: run it in a terminal, or confirm it with --yes."
    require_terminal(advice)


def tag_documents(session: Session, options: argparse.Namespace) -> int:
    """Tag or untag the documents, and print what was done. Raises CommandError."""
    is_added = options.command == "tag"
    if not is_added:
        _require_tag(session, options)
    numbers = read_numbers(options)
    if numbers:
        done = _tag_named(session, options, numbers, is_added=is_added)
    else:
        filters = collect_filters(options)
        require_names(session, options.case, filters)
        if not options.yes and not ask(_build_question(session, options, filters)):
            print("Nothing was changed.")
            return FAILED
        done = run_job(session, options.case, filters, options.name, is_added=is_added)
    if options.json:
        print(format_json({"tagging": done.to_json()}))
    else:
        print(done.describe())
    return DONE


def _require_tag(session: Session, options: argparse.Namespace) -> None:
    """Raise WrongUsageError if the case has no tag with this name: a misspelt one would take nothing off."""
    require_names(session, options.case, {"tagTree": [options.name]})


def _tag_named(session: Session, options: argparse.Namespace, numbers: list[str], *, is_added: bool) -> Tagging:
    """Tag documents by their numbers, 1,000 in each request. Raises WrongUsageError for one that the case lacks."""
    ids = _find_ids(session, options.case, numbers)
    done, line = Tagging(options.name, is_added=is_added), Line(sys.stderr)
    waiting = iter(ids)
    try:
        while batch := list(islice(waiting, _MOST_EXHIBITS)):
            body = {"exhibitIds": batch, "tags": [options.name]}
            result = session.api.request("POST" if is_added else "DELETE", "/taggings", body)
            done.documents += len(batch)
            done.changed += result["created" if is_added else "removed"]
            line.show(f"{done.documents:,} of {len(ids):,} documents")
    except CommandError as exc:
        if not done.documents:
            raise
        raise CommandError(
            f"{exc} The first {done.documents:,} of {len(ids):,} documents were changed. Run the command again for the"
            " others."
        ) from exc
    finally:
        line.clear()
    return done


def _find_ids(session: Session, case: str, numbers: Sequence[str]) -> list[int]:
    """Return the ids of the documents. Raises WrongUsageError, with the numbers that the case does not have."""
    line, ids, missing = Line(sys.stderr), list[int](), list[str]()
    try:
        for count, (number, found) in enumerate(_look_up(session, case, numbers), start=1):
            if found is None:
                missing.append(number)
            else:
                ids.append(found)
            line.show(f"Looked up {count:,} of {len(numbers):,} documents")
    finally:
        line.clear()
    if missing:
        named = ", ".join(quote(each) for each in missing[:_MOST_NAMED])
        more = f" and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
        near = list_following(session, case, missing[0])
        raise WrongUsageError(
            f"The case {quote(case)} has no document {named}{more}; nothing was changed."
            f" {f'In the list, the first is followed by {near}.' if near else ''}".rstrip()
        )
    return ids


def _look_up(session: Session, case: str, numbers: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """Yield each number with the id of its document, None without one."""

    def find(number: str) -> tuple[str, int | None]:
        found = next(iterate(session.api, "/exhibits", 1, case=case, controlNumber=number), None)
        return number, found["id"] if found else None

    with ThreadPoolExecutor(_CONNECTIONS) as threads:
        yield from threads.map(find, numbers)


def _build_question(session: Session, options: argparse.Namespace, filters: dict[str, Any]) -> str:
    query = build_query({"case": options.case, **filters, "count": True, "limit": 1})
    page = session.api.request("GET", f"/exhibits{query}")
    more = "at least " if page["totalIsLowerBound"] else ""
    documents = more + format_count(page["total"], "document")
    name, case = (quote(each) for each in (options.name, options.case))
    if options.command == "tag":
        return f"Tag {documents} of the case {case} with {name}?"
    return f"Take the tag {name} off {documents} of the case {case}?"
