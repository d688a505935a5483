"""The commands that list, show, create and change tenants."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from core.errors import InvalidInputError
from core.tenants.limits import NAMES, NO_LIMITS, Limits, format_limits
from core.tenants.status import TenantStatus
from tools.tenants.database import Database, TenantToolError
from tools.tenants.records import TenantRecord, create_tenant, get_tenant, list_tenants, set_limits, set_status
from tools.tenants.work_under_way import count_work

# What a command does: it prints its result, and raises TenantToolError.
Command = Callable[[Database, argparse.Namespace], None]
_STATUSES = """\
active      everything
read_only   requests that write are refused; what was requested before goes on to its end, and a file that no request
            announced waits in its queue
suspended   every request is refused, with the reason; work that has begun goes on to its end, and other work waits
leaving     as read_only, and no work begins: the tenant moves to another stack

A status reaches every process of the API within 30 seconds, and every transaction that writes at once."""
_NO_LIMIT = "none"


def add_commands(parsers: Any) -> None:
    """Add the commands to the subparsers of `python -m tools.tenant`."""
    _add(
        parsers,
        "list",
        _list,
        "List all tenants: id, status, epoch (how often the status was changed), limits and reason.",
    )
    show = _add(parsers, "show", _show, "Show a tenant and its work under way, which is none once the tenant is quiet.")
    show.add_argument("tenant")
    create = _add(parsers, "create", _create, "Create an active tenant, before its first request.")
    create.add_argument("tenant")
    _add_limits(create)
    status = _add(parsers, "set-status", _set_status, "Set the status of a tenant.", _STATUSES)
    status.add_argument("tenant")
    status.add_argument("status", choices=[each.value for each in TenantStatus])
    status.add_argument("--reason", help="why, in a sentence for the tenant's users, of at most 255 characters")
    limits = _add(parsers, "set-limits", _set_limits, "Set limits of a tenant; those that are not named stay.")
    limits.add_argument("tenant")
    _add_limits(limits)


def _add(parsers: Any, name: str, run: Command, text: str, epilog: str | None = None) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parsers.add_parser(
        name, help=text, description=text, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser


def _add_limits(parser: argparse.ArgumentParser) -> None:
    what = {
        "requests_per_second": "requests a second, about: more get 429",
        "running_imports": "imports that are split, checked or running at once: a start gets 409, a file waits",
        "rows_per_day": "rows of the files whose imports begin on one day, in UTC: an import of more fails, and can be "
        "retried on another day",
    }
    for name in NAMES:
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(
            option, dest=name, type=_parse_limit, default=argparse.SUPPRESS, metavar="N", help=what[name]
        )


def _parse_limit(value: str) -> int | None:
    if value == _NO_LIMIT:
        return None
    if not value.isdecimal():
        raise argparse.ArgumentTypeError(f"{value!r} is neither a whole number nor {_NO_LIMIT}")
    return int(value)


def _choose_limits(before: Limits, options: argparse.Namespace) -> Limits:
    chosen = replace(before, **{name: value for name, value in vars(options).items() if name in NAMES})
    try:
        format_limits(chosen)
    except InvalidInputError as error:
        raise TenantToolError(str(error)) from error
    return chosen


def _list(database: Database, _options: argparse.Namespace) -> None:
    for tenant in list_tenants(database):
        print(_describe(tenant))


def _show(database: Database, options: argparse.Namespace) -> None:
    tenant = get_tenant(database, options.tenant)
    print(_describe(tenant))
    print(f"  created {tenant.created_at} UTC, changed {tenant.changed_at} UTC")
    for name, count in count_work(database, options.tenant).items():
        print(f"  {name}: {count}")


def _create(database: Database, options: argparse.Namespace) -> None:
    print(_describe(create_tenant(database, options.tenant, _choose_limits(NO_LIMITS, options))))


def _set_status(database: Database, options: argparse.Namespace) -> None:
    print(_describe(set_status(database, options.tenant, TenantStatus(options.status), options.reason)))


def _set_limits(database: Database, options: argparse.Namespace) -> None:
    chosen = _choose_limits(get_tenant(database, options.tenant).limits, options)
    print(_describe(set_limits(database, options.tenant, chosen)))


def _describe(tenant: TenantRecord) -> str:
    limits = [f"{name}={value}" for name, value in asdict(tenant.limits).items() if value is not None]
    parts = [tenant.tenant_id, tenant.status.value, f"epoch={tenant.epoch}", *limits]
    return "  ".join([*parts, *([f"({tenant.reason})"] if tenant.reason else [])])
