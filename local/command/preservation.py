"""`backup`, `restore` and `serve --install`: what keeps the stack of one machine for months.

Guaranteed: whatever goes wrong is one sentence with the next step, with --json in one object; a name that cannot be
used is wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pymysql

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import report_errors
from local.command.workspace import Workspace
from local.errors import LocalError, UsageError
from local.service_unit import describe_unit, install_unit
from local.stack.options import REPOSITORY

_UNCHANGED = {"backup": "No backup was written", "restore": "Nothing was changed"}
_NEXT = {
    "backup": "Run the command again.",
    "restore": "Restore it on the kind of server that it was written on, or use another backup.",
}


def run_preservation(workspace: Workspace, options: argparse.Namespace) -> int:
    """Write or restore a backup, print what it has, and return the exit code. Raises CommandError without --json."""

    def work() -> int:
        with _one_sentence(options):
            return _run(workspace, options)

    def describe(error: str) -> Mapping[str, Any]:
        return {"path": str(options.file), "error": error}

    return report_errors(options, work, describe)


def _run(workspace: Workspace, options: argparse.Namespace) -> int:
    from local.backup.backup import backup
    from local.backup.restore import restore

    if workspace.database_url:
        raise LocalError(
            "DATABASE_URL is set: back up its database with the tools of its server, or unset it for the private one"
        )
    if options.command == "backup":
        summary, done = backup(workspace.state_dir, options.file), "written"
    else:
        summary, done = restore(workspace.state_dir, options.file, overwrite=options.overwrite), "restored"
    if options.json:
        print(json.dumps({**asdict(summary), "path": str(summary.path)}, indent=2))
    else:
        rows = sum(summary.tables.values())
        size = f"{summary.bytes / 1_000_000:,.0f} MB"
        print(
            f"{summary.path}: {done}: {rows:,} rows of {len(summary.tables)} tables, {summary.objects:,} files ({size})"
        )
    return DONE


@contextlib.contextmanager
def _one_sentence(options: argparse.Namespace) -> Iterator[None]:
    """Raise whatever the block raises as a CommandError with what happened and what to do."""
    command, unchanged = options.command, _UNCHANGED[options.command]
    try:
        yield
    except UsageError as exc:
        raise WrongUsageError(str(exc)) from exc
    except LocalError as exc:
        raise CommandError(str(exc)) from exc
    except pymysql.MySQLError as exc:
        raise CommandError(f"the database server refused the {command}: {exc}. {unchanged}. {_NEXT[command]}") from exc
    except sqlite3.Error as exc:
        raise CommandError(
            f"the list of the stored files cannot be used: {exc}. {unchanged}. {_NEXT[command]}"
        ) from exc
    except OSError as exc:
        is_full = exc.errno in (errno.ENOSPC, errno.EDQUOT)
        advice = "Free some space" if is_full else "Check the disk and your rights"
        place = exc.filename or options.file
        raise CommandError(
            f"{place}: {exc.strerror or exc}. {unchanged}. {advice}, then run the command again."
        ) from exc


def install_service(port: int, environment: Mapping[str, str]) -> int:
    """Write the unit that keeps `serve` running, print the commands that start it, and return the exit code.

    Raises LocalError as `describe_unit` does.
    """
    program = Path(sys.executable).with_name("exhibit-ingest")
    unit = describe_unit([str(program), "serve", "--port", str(port)], REPOSITORY, environment)
    install_unit(unit)
    print(f"Written: {unit.path}", *unit.commands, sep="\n")
    return DONE
