"""The command `exhibit-ingest`: arguments, signals and exit codes.

Exit codes: 0 everything was done, 1 something failed, 2 the command was called wrongly.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from local import commands
from local.commands import ImportRequest, Place
from local.errors import LocalError, UsageError
from local.options import import_options
from local.serve import print_token, serve

_WRONG_USAGE = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOST_WORKERS = 64
_API_PORT, _LAST_PORT = 8700, 65535
_URL_FORM = "write it as in mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"

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


def main(arguments: Sequence[str] | None = None, place: Place | None = None) -> int:
    """Run the command; gives its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        place = place or Place(database_url=_users_database(os.environ.get("DATABASE_URL")))
        with _signals_interrupt():
            return _run(options, place)
    except UsageError as exc:
        print(f"exhibit-ingest: error: {exc}\ntry: exhibit-ingest {options.command} --help", file=sys.stderr)
        return _WRONG_USAGE
    except LocalError as exc:
        print(f"exhibit-ingest: error: {exc}", file=sys.stderr)
        return commands.FAILED
    except _Interrupted as exc:
        if options.command == "serve":
            print("exhibit-ingest: ended, with all that it started.", file=sys.stderr)
            return commands.DONE if exc.signal == signal.SIGINT else 128 + exc.signal
        print(
            "exhibit-ingest: interrupted; all that it started is stopped. Rows imported so far are kept;"
            " import the file again to get the rest.",
            file=sys.stderr,
        )
        return 128 + exc.signal


def _run(options: argparse.Namespace, place: Place) -> int:
    match options.command:
        case "import":
            return commands.import_files(place, _request(options))
        case "database-url":
            return commands.database_url(place)
        case "serve":
            return serve(place, options.port, options.workers)
        case "token":
            for name in ("tenant", "user"):
                _check_key_part(name, getattr(options, name))
            return print_token(place, options.tenant, options.user)
        case "stop":
            return commands.stop(place)
        case _:
            return commands.reset(place)


def _request(options: argparse.Namespace) -> ImportRequest:
    for name in ("case", "tenant"):
        _check_key_part(name, getattr(options, name))
    for file in options.files:
        _check_file(file)
    return ImportRequest(
        files=options.files,
        tenant=options.tenant,
        case=options.case,
        options=import_options(
            options.mapping,
            encoding=options.encoding,
            delimiter=options.delimiter,
            qualifier=options.qualifier,
        ),
        workers=options.workers,
        json=options.json,
    )


def _users_database(url: str | None) -> str | None:
    if not url:
        return None
    try:
        parsed = make_url(url)
    except ArgumentError as exc:
        raise UsageError(f"DATABASE_URL is no URL; {_URL_FORM}") from exc
    if parsed.drivername != "mysql+pymysql" or not parsed.database:
        raise UsageError(f"DATABASE_URL must name the driver and a schema; {_URL_FORM}")
    return url


def _check_key_part(name: str, value: str) -> None:
    """Tenant and case are parts of the upload's key, and of nothing that could be mistaken for a folder.

    A token's user must be a name of the same kind.
    """
    if not value.strip() or "/" in value or value in (".", "..") or not value.isprintable():
        raise UsageError(f"--{name} {value!r}: give a name without slashes and control characters")


def _check_file(file: Path) -> None:
    if not file.exists():
        raise UsageError(f"{file} does not exist")
    if not file.is_file() or not os.access(file, os.R_OK):
        raise UsageError(f"{file} is no file that can be read")


def _workers(text: str) -> int:
    workers = int(text)
    if not 1 <= workers <= _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"from 1 to {_MOST_WORKERS}")
    return workers


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= _LAST_PORT:
        raise argparse.ArgumentTypeError(f"from 0 (any free port) to {_LAST_PORT}")
    return port


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="exhibit-ingest", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=keep
    )
    commands_ = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    importing = commands_.add_parser(
        "import", help="import load files into a case", epilog=_IMPORT_EPILOG, formatter_class=keep
    )
    _add_import_arguments(importing)
    commands_.add_parser("database-url", help="start the private database if need be and print its URL")
    serving = commands_.add_parser("serve", help="the HTTP API and everything behind it, until Ctrl-C")
    serving.add_argument(
        "--port", type=_port, default=_API_PORT, metavar="P", help="of 127.0.0.1 (default: %(default)s; 0: a free one)"
    )
    _add_workers(serving)
    token = commands_.add_parser("token", help="print a token for the API, good for an hour")
    token.add_argument("--tenant", required=True, metavar="T", help="whose documents it opens")
    token.add_argument("--user", required=True, metavar="U", help="whom changes are recorded of")
    commands_.add_parser("stop", help="stop the private database that database-url left running")
    commands_.add_parser("reset", help="stop the private database and delete it, the logs and the reports")
    return parser


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


class _Interrupted(BaseException):
    """A signal told the command to end; everything is unwound before it does."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Turn signals into an exception once; while things are taken down, further ones are ignored.

    A signal that is ignored from the start, as nohup does, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise _Interrupted(number)

    before = {each: signal.signal(each, interrupt) for each in _SIGNALS if signal.getsignal(each) != signal.SIG_IGN}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


if __name__ == "__main__":
    sys.exit(main())
