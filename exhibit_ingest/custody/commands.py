"""`exhibit-ingest custody` and `devices`: run the action, and print what the API has."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from exhibit_ingest.catalog.finding import explain_unknown_case
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.custody.output import print_changes, print_device, print_devices, print_periods
from exhibit_ingest.custody.recording import build_patch, change, check_hold, hold, transfer
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import format_json, format_time, to_snake
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Context, Session

_ENDED = "ended meanwhile. Start it, then run this command again"
_LISTED_CONFLICTS = 20


def run(options: argparse.Namespace, context: Context) -> int:
    """Run `custody` or `devices` and return its exit code. Raises CommandError."""
    try:
        return _run(options, context)
    except CommandError as exc:
        conflicts = exc.problem.get("conflicts", []) if isinstance(exc, ApiError) else []
        if options.json:
            print(format_json({"error": str(exc), **({"conflicts": to_snake(conflicts)} if conflicts else {})}))
            return exc.exit_code
        if conflicts:
            raise CommandError("\n".join([str(exc), *_describe_conflicts(conflicts)])) from exc
        raise


def _run(options: argparse.Namespace, context: Context) -> int:
    action = "devices" if options.command == "devices" else options.action
    patch = _check(options, action)
    with context.open(options, ended=_ENDED) as session:
        try:
            _act(options, session, action, patch)
        except ApiError as exc:
            case = getattr(options, "case", None)
            if exc.code == "not-found" and case and (unknown := explain_unknown_case(session, case)):
                raise WrongUsageError(unknown) from exc
            raise
    return DONE


def _act(options: argparse.Namespace, session: Session, action: str, patch: dict[str, Any]) -> None:
    match action:
        case "devices" if options.device is not None:
            label = options.label.strip() or None
            device = session.api.request("PUT", f"/devices/{options.device}", {"label": label})
            print_device(device, as_json=options.json)
        case "devices":
            print_devices(iterate(session.api, "/devices", search=options.search), as_json=options.json)
        case "show":
            _show(options, session)
        case "hold":
            print_periods({"periods": hold(session.api, options)}, as_json=options.json)
        case "transfer":
            done = transfer(session.api, options)
            print_periods({"ended": done["ended"], "begun": done["begun"]}, as_json=options.json)
        case "change":
            print_periods({"period": change(session.api, options, patch)}, as_json=options.json)
        case _:
            changes = list(iterate(session.api, "/custody-changes", deviceId=options.device))
            print_changes(options.device, changes, as_json=options.json)


def _check(options: argparse.Namespace, action: str) -> dict[str, Any]:
    """Raise WrongUsageError before anything is requested; return what a correction changes."""
    if action == "show" and (options.device is None) == (options.case is None):
        raise WrongUsageError("Say what to show: DEVICE, or --case for the devices that its custodians hold.")
    if action == "devices" and (options.device is None) != (options.label is None):
        raise WrongUsageError("To name a device, give DEVICE and --label; `devices` without them lists all.")
    if action == "devices" and options.device is not None and options.search is not None:
        raise WrongUsageError("--search is for the list: omit it, or omit DEVICE and --label.")
    if action == "hold":
        check_hold(options)
    return build_patch(options) if action == "change" else {}


def _show(options: argparse.Namespace, session: Session) -> None:
    if options.device is not None:
        periods = list(iterate(session.api, "/custody-periods", deviceId=options.device))
        print_periods({"device": options.device, "periods": periods}, as_json=options.json)
        return
    custodians = {each["id"] for each in iterate(session.api, "/custodians", case=options.case)}
    held = (each for each in iterate(session.api, "/devices") if each["holderId"] in custodians)
    print_devices(held, as_json=options.json)


def _describe_conflicts(conflicts: list[dict[str, Any]]) -> Iterator[str]:
    for each in conflicts[:_LISTED_CONFLICTS]:
        begin, end = each["begin"], each.get("end")
        times = f"from {format_time(begin)} {f'to {format_time(end)}' if end else 'on'}"
        if each.get("periodId") is not None:
            other = f"period {each['periodId']}"
        else:
            other = f"record {each['otherElement'] + 1}"
        yield f"  record {each['element'] + 1}, device {each['deviceId']}: overlaps {other} {times}"
    if len(conflicts) > _LISTED_CONFLICTS:
        yield f"  and {len(conflicts) - _LISTED_CONFLICTS:,} more; --json lists all"
