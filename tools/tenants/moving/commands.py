"""The commands that move a tenant: export, load, verify, switch."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.export import export_tenant
from tools.tenants.moving.load import load_tenant
from tools.tenants.moving.open_work import UNAWARE_S, Waiting
from tools.tenants.moving.stacks import read_stack
from tools.tenants.moving.switch import finish_restore, switch_back, switch_tenant
from tools.tenants.moving.verify import verify_tenant

_STACK = 'a JSON file: {"database": URL, "bucket": NAME}, and for a stack of this machine "endpoint" and "storage"'
_NEXT = """\
{tenant} is active at the target. Now change the claim that names the stack (cell) for its users in the identity
provider, and have them sign in again. Keep the rows and objects at the source for at least 30 days."""


def add_commands(parsers: Any) -> None:
    """Add the commands to the subparsers of `python -m tools.tenant`."""
    add = partial(_add, parsers)
    export = add("export", _export, "Make a tenant read-only, wait until it is quiet, and write its rows to a folder.")
    export.add_argument("tenant")
    _add_places(export, "source")
    export.add_argument("--clone", action="store_true", help="the source is a restored clone, to bring a tenant back")
    _add_waiting(export)
    load = add("load", _load, "Load an exported tenant into a stack; a repetition goes on where the last one ended.")
    _add_places(load, "target")
    load.add_argument(
        "--replace", action="store_true", help="first delete the rows that the stack has of the tenant; keep counters"
    )
    _add_waiting(load)
    verify = add("verify", _verify, "Compare rows and objects; exit with 1 if anything differs.")
    _add_places(verify, "source", "target")
    switch = add("switch", _switch, "Have the target write for the tenant, and no longer the source.")
    _add_places(switch, "target")
    given_up = switch.add_mutually_exclusive_group(required=True)
    given_up.add_argument("--source", type=Path, help=f"the stack that the tenant leaves, {_STACK}")
    given_up.add_argument("--restored", action="store_true", help="the tenant was brought back; there is no source")
    switch.add_argument("--back", action="store_true", help="undo it, as long as the target has written nothing")


def _add(parsers: Any, name: str, run: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parsers.add_parser(name, help=text, description=text)
    parser.set_defaults(move=run)
    return parser


def _add_places(parser: argparse.ArgumentParser, *stacks: str) -> None:
    parser.add_argument("folder", type=Path, help="the folder of the export")
    for stack in stacks:
        parser.add_argument(f"--{stack}", type=Path, required=True, help=_STACK)


def _add_waiting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unaware-seconds",
        type=float,
        default=UNAWARE_S,
        help="seconds for which what began before the change of the status can still write: UploadUrlSeconds of the "
        "stack plus 930 (default: %(default)s, for UploadUrlSeconds 3600)",
    )


def _export(options: argparse.Namespace) -> None:
    waiting = Waiting(is_clone=options.clone, unaware_s=options.unaware_seconds)
    manifest = export_tenant(read_stack(options.source), options.tenant, options.folder, waiting, print)
    print(
        f"{manifest['tenant']}: {manifest['objects']['versions']:,} versions of objects; {options.folder} is complete"
    )


def _load(options: argparse.Namespace) -> None:
    waiting = Waiting(unaware_s=options.unaware_seconds)
    load_tenant(read_stack(options.target), options.folder, print, replace=options.replace, waiting=waiting)


def _verify(options: argparse.Namespace) -> None:
    count = verify_tenant(read_stack(options.source), read_stack(options.target), options.folder, print)
    if count:
        raise TenantToolError(
            f"{count:,} differences, listed above; the tenant cannot be switched. Repeat load for missing rows, copy "
            "missing objects, then verify again"
        )
    print("no difference")


def _switch(options: argparse.Namespace) -> None:
    target = read_stack(options.target)
    if options.restored:
        print(f"{finish_restore(target, options.folder)} is active again")
    elif options.back:
        print(f"{switch_back(read_stack(options.source), target, options.folder, print)} is active at the source again")
    else:
        print(_NEXT.format(tenant=switch_tenant(read_stack(options.source), target, options.folder, print)))
