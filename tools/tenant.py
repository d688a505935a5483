"""Manage the tenants of a stack: `python -m tools.tenant list|show|create|set-status|set-limits`.

Move one to another stack: `export|load|verify|switch`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pymysql
from botocore.exceptions import BotoCoreError

from tools.tenants import commands
from tools.tenants.database import DEFAULT_STATE, TenantToolError, open_database
from tools.tenants.moving import commands as moving

DONE, FAILED = 0, 1
# Modules whose `add_commands` adds commands.
_MODULES = (commands, moving)
# Their texts can have parts of statements.
_UNREACHED = (pymysql.OperationalError, pymysql.InterfaceError, BotoCoreError)
_DESCRIPTION = """\
Manage the tenants of a stack: their statuses and limits.

A tenant is the value of a claim of its users' tokens. It is created by its first request, or by this command where the
stack has TenantsByFirstUse=false."""
_EPILOG = """\
examples:
  python -m tools.tenant --stack exhibit-ingest list
  python -m tools.tenant --stack exhibit-ingest create smith-llp --running-imports 10 --rows-per-day 50000000
  python -m tools.tenant --stack exhibit-ingest set-status smith-llp suspended --reason "The invoice of May is open."
  python -m tools.tenant --stack exhibit-ingest show smith-llp
  python -m tools.tenant set-limits local --running-imports none      the private database of `exhibit-ingest serve`
  python -m tools.tenant export smith-llp EXPORT --source seven.json     the first of the steps of a move

A tenant moves to another stack by export, load, verify and switch: docs/operations.md, "Move a tenant".

A deployed stack is reached by the RDS Data API (DatabaseDataApi), with the credentials of the AWS CLI. They need
cloudformation:DescribeStacks and DescribeStackResource, rds:DescribeDBClusters, rds-data:ExecuteStatement on the
cluster, and secretsmanager:GetSecretValue and kms:Decrypt for the secret in DatabaseSecretArn.

exit status: 0 done; 1 it was refused, as the message says; 2 wrong usage"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; print its result, or why it did not work and what to do."""
    options = _build_parser().parse_args(arguments)
    try:
        if "move" in options:
            # These commands read and write two stacks, and more than the Data API returns.
            options.move(options)
        else:
            options.run(open_database(options.stack, options.database, options.state_dir), options)
    except TenantToolError as error:
        print(f"tenant: {error}.", file=sys.stderr)
        return FAILED
    except _UNREACHED as error:
        print(
            f"tenant: the database or the bucket does not answer ({type(error).__name__}). Once it does, run the "
            "command again: it goes on where it was.",
            file=sys.stderr,
        )
        return FAILED
    return DONE


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.tenant",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--stack", help="the deployed stack, by its name; a move takes --source and --target instead")
    where.add_argument(
        "--database", default=os.environ.get("DATABASE_URL"), help="the SQLAlchemy URL of a database (DATABASE_URL)"
    )
    where.add_argument(
        "--state-dir",
        type=Path,
        default=DEFAULT_STATE,
        help=f"the state directory of a local stack that runs (default: {DEFAULT_STATE})",
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in _MODULES:
        module.add_commands(parsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
