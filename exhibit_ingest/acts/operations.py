"""`exhibit-ingest operations`: list what runs, waits and failed, and retry events that could not be published."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from exhibit_ingest.acts.arguments import ALL_EVENTS
from exhibit_ingest.client.api import Api
from exhibit_ingest.exit_codes import DONE, REJECTED
from exhibit_ingest.session.output import format_count, format_time, print_json, report_errors, to_snake
from exhibit_ingest.session.session import Context
from exhibit_ingest.session.tables import print_rows

_WORKS = ("state", "kind", "number", "case", "status", "since", "name", "reason")
_EVENTS = ("event", "type", "of", "given up", "refusals", "refusal")
# More than a tenant has, unless events are given up faster than they are retried.
_MOST_ROUNDS = 1_000


def run(options: argparse.Namespace, context: Context) -> int:
    """Run `operations` and return its exit code. Raises CommandError without --json."""
    return report_errors(options, lambda: _run(options, context))


def _run(options: argparse.Namespace, context: Context) -> int:
    with context.open(options, ended="ended meanwhile. Start it, and run this command again") as session:
        if options.retry is not None:
            return _retry(session.api, options)
        return _list(session.api, options)


def _retry(api: Api, options: argparse.Namespace) -> int:
    path = "/operations/events/retry" if options.retry == ALL_EVENTS else f"/operations/events/{options.retry}/retry"
    done = api.request("POST", path)
    total = done["retried"]
    # A request takes 1,000 at most; none is requested again after an event of it could have come back.
    for _ in range(_MOST_ROUNDS):
        if options.retry != ALL_EVENTS or not done["left"] or not done["retried"]:
            break
        done = api.request("POST", path)
        total += done["retried"]
    result = {**to_snake(done), "retried": total}
    if options.json:
        print_json(result)
    else:
        more = " or more" if done["leftIsLowerBound"] else ""
        print(f"{format_count(total, 'event')} published again; {done['left']:,}{more} left.")
    return REJECTED if done["left"] and options.retry == ALL_EVENTS else DONE


def _list(api: Api, options: argparse.Namespace) -> int:
    found = api.request("GET", "/operations")
    if options.json:
        print_json(to_snake(found))
    else:
        _print(found)
    has_failed = found["events"]["total"] or any(each["state"] == "failed" for each in found["groups"])
    return REJECTED if has_failed else DONE


def _print(found: dict[str, Any]) -> None:
    groups, events = found["groups"], found["events"]
    if not groups and not events["total"]:
        print("Nothing runs, nothing waits, nothing failed.")
        return
    if groups:
        print_rows(_WORKS, (_describe_work(group, each) for group in groups for each in group["items"]))
    if events["total"]:
        print("Events that could not be published; --retry publishes them again:")
        print_rows(_EVENTS, map(_describe_event, events["items"]), numbers=("refusals",))
    for line in _list_cuts(found):
        print(line)


def _list_cuts(found: dict[str, Any]) -> Iterator[str]:
    for group in found["groups"]:
        if group["totalIsLowerBound"]:
            yield f"There are more of kind {group['kind']} that are {group['state']}; the newest are shown."
    if found["events"]["totalIsLowerBound"]:
        yield "There are more events; the newest are shown."


def _describe_work(group: dict[str, Any], work: dict[str, Any]) -> tuple[Any, ...]:
    parts = f"{format_count(work['chunksFailed'], 'part')} failed in every attempt" if work["chunksFailed"] else ""
    named = (group["state"], group["kind"].replace("_", " "), work["id"], work["case"])
    return (*named, work["status"].replace("_", " "), format_time(work["since"]), work["name"], parts or work["reason"])


def _describe_event(event: dict[str, Any]) -> tuple[Any, ...]:
    about = f"{event['objectType']} {event['objectId']}"
    given_up = format_time(event["deadLetteredAt"])
    return event["id"], event["eventType"], about, given_up, event["refusals"], event["refusal"]
