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
from local.arguments import parser
from local.commands import ImportRequest, Place
from local.errors import LocalError, UsageError
from local.options import import_options

_WRONG_USAGE = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_URL_FORM = "write it as in mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"


def main(arguments: Sequence[str] | None = None, place: Place | None = None) -> int:
    """Run the command; gives its exit code."""
    options = parser().parse_args(arguments)
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
        return _interrupted(options.command, exc.signal)


def _interrupted(command: str, number: int) -> int:
    """Say that the command has ended at a signal; gives its exit code."""
    if command == "serve":
        print("exhibit-ingest: ended, with all that it started.", file=sys.stderr)
        return commands.DONE if number == signal.SIGINT else 128 + number
    print(
        "exhibit-ingest: interrupted; all that it started is stopped. Rows imported so far are kept;"
        " import the file again to get the rest.",
        file=sys.stderr,
    )
    return 128 + number


def _run(options: argparse.Namespace, place: Place) -> int:
    match options.command:
        case "import":
            return commands.import_files(place, _request(options))
        case "database-url":
            return commands.database_url(place)
        case "serve":
            return commands.serve(place, options.port, options.workers)
        case "token":
            for name in ("tenant", "user"):
                _check_key_part(name, getattr(options, name))
            return commands.print_token(place, options.tenant, options.user)
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
