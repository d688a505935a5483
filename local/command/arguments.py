"""The arguments and help texts of the commands of the stack of this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exhibit_ingest.arguments import add_workers, parse_number, parse_path

_API_PORT, _LAST_PORT = 8700, 65535
_ROLES = ("viewer", "editor", "admin")

_SERVE = """\
Serves the HTTP API on 127.0.0.1 until Ctrl-C, and prints a link that opens the console, signed in. Imported rows are
kept in the database, uploads and queued work in files: an import that is still running when the command ends goes on
with the next `serve` or `import`."""

_REQUEST_EXAMPLE = """\
example, in another terminal while `exhibit-ingest serve` runs:
  TOKEN=$(exhibit-ingest token --tenant local --user me)
  curl -sS -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8700/imports
A token is valid for an hour. When the API answers 401, get a new one."""

_SERVE_EPILOG = f"""\
{_REQUEST_EXAMPLE}

To use your own MySQL 8+ or MariaDB 10.6+ instead of the private database, set
DATABASE_URL=mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"""

_TOKENS = """\
Prints a token for the local API, valid for an hour. The API need not be running. AWS does not accept the token."""

_DATABASE_URL = """\
Prints the URL of the database that holds the imported documents. If the private server is not running, it is started
and its schema is migrated; it then runs until `exhibit-ingest stop`. A server that `serve` or `import` started stops
with that command. If DATABASE_URL is set, its value is printed unchanged and nothing is started."""

_STOP = """\
Stops the private database server that `database-url` started. Imported documents are kept; the next command starts
the server again. A server named by DATABASE_URL is not touched."""

_RESET = """\
Deletes everything that the stack of this machine keeps: the private database, the uploaded files, natives, texts,
images and volumes of imports and productions, queued work, reports, logs and the token secret. It lists them with their
sizes and asks first. A database named by DATABASE_URL is not touched. To keep a copy, run `exhibit-ingest backup`
first."""


_BACKUP = """\
Writes the private database and all files of imports and volumes to one new file, also while `serve` runs. Work that is
in progress is in it, and goes on after a restore. The file contains evidence and is not encrypted:
store it where you store evidence."""

_RESTORE = """\
Checks a file of `backup` and puts what it has in place of the private database and of the files of imports and volumes.
All of it is replaced, or nothing. No other command may use the stack meanwhile."""

_PRINTED = """\
--json prints {"path", "tables" (rows by table), "objects", "bytes"}, or {"path", "error"}.
"""
_BACKUP_EPILOG = f"""\
{_PRINTED}
exit status: 0 success; 1 failure: no backup was written; 2 wrong usage, or the file exists"""
_RESTORE_EPILOG = f"""\
{_PRINTED}
exit status: 0 success; 1 failure: nothing was changed; 2 wrong usage, there is no such file, or there is data already
and no --overwrite"""


def add_local_arguments(add: Callable[[str, str, str, str | None], argparse.ArgumentParser]) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    text = "print the URL of the database; start the private server if needed"
    _add_tcp(add("database-url", text, _DATABASE_URL, None))
    _add_serve_arguments(add("serve", "serve the HTTP API until Ctrl-C", _SERVE, _SERVE_EPILOG))
    _add_token_arguments(add("token", "print a token for the API", _TOKENS, _REQUEST_EXAMPLE))
    add("stop", "stop the private database server that database-url started", _STOP, None)
    reset = add("reset", "delete the private database, all uploaded files and the reports", _RESET, None)
    reset.add_argument("--yes", action="store_true", help="do not ask, for scripts")
    backup = add("backup", "write the database and all files to one file", _BACKUP, _BACKUP_EPILOG)
    backup.add_argument("file", type=parse_path, metavar="FILE", help="file to write; it must not exist")
    restore = add("restore", "replace the database and all files with those of a backup", _RESTORE, _RESTORE_EPILOG)
    restore.add_argument("file", type=parse_path, metavar="FILE", help="file that backup has written")
    restore.add_argument("--overwrite", action="store_true", help="replace what is here already")
    for each in (backup, restore):
        each.add_argument("--json", action="store_true", help="print one JSON object, also for an error")


def _add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=_port,
        default=_API_PORT,
        metavar="P",
        help="port on 127.0.0.1 (default: %(default)s; 0: any free port)",
    )
    add_workers(parser)
    _add_tcp(parser)
    text = "write a unit of systemd that keeps serve running, and say how to start it; serve nothing now"
    parser.add_argument("--install", action="store_true", help=text)


def _add_tcp(parser: argparse.ArgumentParser) -> None:
    text = "have the private database listen on a port of 127.0.0.1, not only on a socket in a private folder"
    parser.add_argument("--tcp", action="store_true", help=text)


def _add_token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenant", required=True, metavar="T", help="tenant whose documents the token gives access to")
    parser.add_argument("--user", required=True, metavar="U", help="user that changes are recorded under")
    parser.add_argument("--role", choices=_ROLES, default="admin", help="what the user may do (default: admin)")


def _port(text: str) -> int:
    return parse_number(text, 0, _LAST_PORT, f"a number from 1 to {_LAST_PORT}, or 0 for any free port")
