"""Custody periods, devices and changes: tables for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from exhibit_ingest.session.output import format_json, format_time, to_snake
from exhibit_ingest.session.tables import Column, print_table

_PERIODS = (
    Column("period", is_number=True),
    Column("device", is_number=True, rank=2),
    Column("begin"),
    Column("end"),
    Column("held by", least=10),
    Column("note", least=10, rank=1),
    Column("version", is_number=True, rank=3),
)
_DEVICES = (
    Column("device", is_number=True),
    Column("label", least=10),
    Column("held by", least=10),
    Column("since"),
    Column("periods", is_number=True, rank=2),
    Column("last change", rank=1),
)
_CHANGES = (
    Column("changed"),
    Column("by", least=8),
    Column("action"),
    Column("period", is_number=True),
    Column("version", is_number=True, rank=4),
    Column("begin", rank=1),
    Column("end", rank=1),
    Column("held by", least=10, rank=2),
    Column("note", least=10, rank=3),
)


def print_periods(result: dict[str, Any], *, as_json: bool) -> None:
    """Print the members of a result that are periods, or lists of them."""
    if as_json:
        print(format_json(to_snake(result)))
        return
    lists = (each if isinstance(each, list) else [each] for each in result.values() if not isinstance(each, int))
    print_table(_PERIODS, [_build_row(period) for periods in lists for period in periods], sys.stdout)


def _build_row(period: dict[str, Any]) -> dict[str, str]:
    return {
        "period": str(period["id"]),
        "device": str(period["deviceId"]),
        **_describe_period(period),
        "version": str(period["version"]),
    }


def _describe_period(period: dict[str, Any]) -> dict[str, str]:
    return {
        "begin": format_time(period["begin"]),
        "end": format_time(period["end"]) or "open",
        "held by": period["custodian"] or "not recorded",
        "note": period["note"] or "",
    }


def print_devices(devices: Iterable[dict[str, Any]], *, as_json: bool) -> None:
    """Print devices with their holders."""
    listed = list(devices)
    if as_json:
        print(format_json({"devices": to_snake(listed)}))
        return
    print_table(_DEVICES, list(map(_build_device_row, listed)), sys.stdout)


def print_device(device: dict[str, Any], *, as_json: bool) -> None:
    """Print a device whose label was changed."""
    if as_json:
        print(format_json({"device": to_snake(device)}))
        return
    print_table(_DEVICES, [_build_device_row(device)], sys.stdout)


def _build_device_row(device: dict[str, Any]) -> dict[str, str]:
    return {
        "device": str(device["deviceId"]),
        "label": device["label"] or "",
        "held by": (device["holder"] or "not recorded") if device["isHeld"] else "",
        "since": format_time(device["since"]),
        "periods": str(device["periods"]),
        "last change": format_time(device["lastChangeAt"]),
    }


def print_changes(device: int, changes: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print the changes of a device's periods."""
    if as_json:
        print(format_json({"device": device, "changes": to_snake(changes)}))
        return
    print_table(_CHANGES, list(map(_build_change_row, changes)), sys.stdout)


def _build_change_row(each: dict[str, Any]) -> dict[str, str]:
    return {
        "changed": format_time(each["changedAt"]),
        "by": each["userName"] or each["userId"],
        "action": each["action"],
        "period": str(each["periodId"]),
        "version": str(each["version"]),
        **_describe_period(each),
    }
