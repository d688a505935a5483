"""Record custody: periods, transfers and corrections."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.client.api import Api
from exhibit_ingest.custody.custodians import find_custodian
from exhibit_ingest.custody.period_file import read_periods
from exhibit_ingest.custody.times import format_utc
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.session.pages import iterate


def check_hold(options: argparse.Namespace) -> None:
    """Raise WrongUsageError unless the options name one period, or a file with periods."""
    given = [options.device, options.begin, options.end, options.custodian, options.note]
    if options.csv is not None and any(each is not None for each in given):
        raise WrongUsageError("--csv has the periods: omit DEVICE, --begin, --end, --custodian and --note.")
    if options.csv is None and (options.device is None or options.begin is None):
        raise WrongUsageError("Say what is recorded: DEVICE and --begin, or --csv FILE.")


def hold(api: Api, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Record the period, or those of the file, all or none; return them. Raises CommandError."""
    find = partial(find_custodian, api, case=options.case, is_new=options.new_custodian)
    if options.csv is not None:
        periods = read_periods(options.csv, find)
    else:
        period = {"deviceId": options.device, "begin": options.begin, "end": options.end, "note": options.note}
        periods = [{**period, "custodianId": options.custodian and find(options.custodian)}]
    # One body with all: the API records all or none.
    return list(api.request("POST", "/custody-periods", periods)["items"])


def transfer(api: Api, options: argparse.Namespace) -> dict[str, Any]:
    """Record the transfer; return the periods that it ended and began.

    The holder that was read is the one whose period ends: a transfer meanwhile is refused. Raises CommandError.
    """
    receiver = find_custodian(api, options.custodian, options.case, is_new=options.new_custodian)
    at = datetime.fromisoformat(options.at) if options.at else datetime.now(UTC).replace(microsecond=0)
    body = {
        "deviceId": options.device,
        "at": format_utc(at),
        "custodianId": receiver,
        "end": options.end,
        "note": options.note,
        "fromPeriodId": _find_period(api, options.device, at)["id"],
    }
    return api.request("POST", "/custody-transfers", body)


def _find_period(api: Api, device: int, at: datetime) -> dict[str, Any]:
    """Return the period in which a device is held at a time; raise CommandError if there is none."""
    times: dict[str, Any] = {"from": format_utc(at), "to": format_utc(at + timedelta(microseconds=1))}
    found = next(iterate(api, "/custody-periods", 1, deviceId=device, **times), None)
    if found is None:
        raise CommandError(
            f"Device {device} is not held at {format_utc(at)}: no period contains that time. Record one with `custody"
            f" hold`, or choose another time; `custody show {device}` lists the periods."
        )
    return found


def build_patch(options: argparse.Namespace) -> dict[str, Any]:
    """Return what a correction changes, without the custodian; raise WrongUsageError for nothing."""
    if options.open and options.end is not None:
        raise WrongUsageError("--open and --end exclude each other.")
    given = {"begin": options.begin, "end": options.end, "note": options.note}
    patch = {name: value for name, value in given.items() if value is not None}
    # An empty note is none.
    patch |= ({"end": None} if options.open else {}) | ({"note": None} if options.note == "" else {})
    if not patch and options.custodian is None:
        raise WrongUsageError("Say what to change: --begin, --end, --open, --custodian or --note.")
    return patch


def change(api: Api, options: argparse.Namespace, patch: dict[str, Any]) -> dict[str, Any]:
    """Correct a period, if it still has the version, and return it. Raises CommandError."""
    path = f"/custody-periods/{options.period}"
    if options.custodian is not None:
        found = find_custodian(api, options.custodian, options.case, is_new=options.new_custodian)
        patch = {**patch, "custodianId": found}
    version = options.if_version or api.request("GET", path)["version"]
    try:
        return api.request("PATCH", path, patch, if_match=f'"{version}"')
    except ApiError as exc:
        if exc.code != "stale-version":
            raise
        raise CommandError(
            f"Period {options.period} was not changed: it has version {exc.problem.get('currentVersion')} by now, not"
            f" {version}. `custody show` has it as it is; then change that version."
        ) from exc
