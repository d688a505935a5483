"""The arguments of `exhibit-ingest`, and what its help says."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TypeAlias

from local.api_gateway import LAST_PORT

_MOST_WORKERS = 64
_API_PORT = 8700

_DESCRIPTION = """\
Imports litigation load files (Concordance DAT, CSV, TSV and their kin) into MySQL, on this machine: it starts a
private database, S3, SQS and SNS, runs the same functions that run in AWS, and ends them again.
Every row lands exactly once, or comes back with its line number and the reason."""

_EPILOG = """\
examples:
  exhibit-ingest import production.dat --case "Smith v. Jones"
      import one file; importing it again adds nothing
  exhibit-ingest import vol1.dat vol2.dat --case acme --workers 4 --json
      several files, one after another; the result as one JSON object
  exhibit-ingest database-url
      where what was imported can be looked at
  exhibit-ingest serve
      the HTTP API on this machine, until Ctrl-C; `exhibit-ingest token --tenant acme --user me` gives a token for it
  exhibit-ingest reset
      forget everything

Set DATABASE_URL (mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4) to import into a MySQL 8+ or
MariaDB 10.6+ of your own.
exit status: 0 all imports completed, with or without rejected rows; 1 one failed; 2 wrong usage"""

_IMPORT_EPILOG = """\
examples:
  exhibit-ingest import production.dat --case acme
  exhibit-ingest import export.txt --case acme --delimiter pipe --qualifier none --encoding cp1252
  exhibit-ingest import headerless.csv --case acme --mapping mapping.json

mapping.json says what the columns are, by name or by number from 1; columns it leaves out keep their meaning:
  {"columns": {"Doc ID": "control_number", "Author": "custodians"}}
and may hold any other option too:
  {"header": false, "date_order": "DMY", "columns": {"1": "control_number", "2": "title"}}
fields: control_number bates_begin bates_end parent_control_number title file_name document_date native_path
        text_path custodians tags property

Rows that were not imported come back in .local/reports/<import>/, in the file's own format: mend them and import that
file, with the options.json beside it as --mapping, so that it is read as the whole file was.
What was imported belongs to the tenant `local`; to see it over HTTP: exhibit-ingest serve, and for the requests
exhibit-ingest token --tenant local --user me"""

_SERVE = """\
Serves the HTTP API on 127.0.0.1 until Ctrl-C, with everything behind it: a database, Redis, S3, SQS, SNS and the
functions. S3, SQS and SNS are in memory: uploads and messages are gone at the end, imported rows are not; an import
that has not finished by then never will: cancel it and upload the file again."""

_REQUEST_EXAMPLE = """\
example, in another terminal while `exhibit-ingest serve` runs:
  TOKEN=$(exhibit-ingest token --tenant acme --user me)
  curl -sS -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8700/imports
A token lasts an hour; when the API answers 401, make a new one."""

_SERVE_EPILOG = f"""\
{_REQUEST_EXAMPLE}

Set DATABASE_URL (mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4) to serve from a MySQL 8+ or
MariaDB 10.6+ of your own instead of the private one."""

_FOR_TOKENS = """\
Prints a token for the local API, for an hour from now, whether the API runs yet or not. AWS does not take it."""

_DATABASE_URL = """\
Prints the URL of the database with what was imported. The private server is started and brought up to date if it does
not run, and goes on running until `exhibit-ingest stop`; one that `serve` or `import` has started ends with that.
Where DATABASE_URL is set, it is printed as it is, and nothing is started."""

_STOP = """\
Stops the private database server that `database-url` left running. What was imported stays; the next command starts
the server again. A server that DATABASE_URL names is not touched."""

_RESET = """\
Stops the private database server and deletes it with all that was imported, the logs, the reports and the tokens'
secret, without asking. A database that DATABASE_URL names is not touched."""

_KEEP = argparse.RawDescriptionHelpFormatter
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def parser() -> argparse.ArgumentParser:
    """What reads the command line; `command` names the subcommand. It exits with 2 where that cannot be understood."""
    top = argparse.ArgumentParser(
        prog="exhibit-ingest", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=_KEEP
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_import_arguments(_add(commands, "import", "import load files into a case", None, _IMPORT_EPILOG))
    _add(commands, "database-url", "start the private database if need be and print its URL", _DATABASE_URL)
    _add_serve_arguments(
        _add(commands, "serve", "the HTTP API and everything behind it, until Ctrl-C", _SERVE, _SERVE_EPILOG)
    )
    _add_token_arguments(
        _add(commands, "token", "print a token for the API, good for an hour", _FOR_TOKENS, _REQUEST_EXAMPLE)
    )
    _add(commands, "stop", "stop the private database that database-url left running", _STOP)
    _add(commands, "reset", "stop the private database and delete it, the logs and the reports", _RESET)
    return top


def _add(
    commands: _Commands, name: str, summary: str, description: str | None, epilog: str | None = None
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=summary, description=description, epilog=epilog, formatter_class=_KEEP)


def _add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=_port, default=_API_PORT, metavar="P", help="of 127.0.0.1 (default: %(default)s; 0: a free one)"
    )
    _add_workers(parser)


def _add_token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenant", required=True, metavar="T", help="whose documents it opens")
    parser.add_argument("--user", required=True, metavar="U", help="the user whose name changes are recorded under")


def _add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a load file")
    parser.add_argument("--case", required=True, metavar="NAME", help="the case; made if it is new")
    parser.add_argument("--tenant", default="local", metavar="T", help="whose case it is (default: local)")
    _add_workers(parser)
    parser.add_argument("--mapping", type=Path, metavar="FILE", help="JSON that says what the columns are; see below")
    parser.add_argument(
        "--encoding", metavar="E", help="instead of the one found: utf-8, utf-16-le, utf-16-be or cp1252"
    )
    parser.add_argument("--delimiter", metavar="D", help="a character, its decimal code, or comma, tab, pipe, dc4 ...")
    parser.add_argument("--qualifier", metavar="Q", help="the same, or thorn, quote, or none")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=_workers,
        default=min(4, os.cpu_count() or 1),
        metavar="N",
        help="processes per function (default: %(default)s)",
    )


def _workers(text: str) -> int:
    return _number(text, 1, _MOST_WORKERS, f"a number from 1 to {_MOST_WORKERS}")


def _port(text: str) -> int:
    return _number(text, 0, LAST_PORT, f"a number from 1 to {LAST_PORT}, or 0 for any free port")


def _number(text: str, least: int, most: int, wanted: str) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return int(text)
