"""`exhibit-ingest whoami`, of any stack, and the commands of signing in, which have no session yet."""

from __future__ import annotations

import argparse

from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.session import Context
from exhibit_ingest.sign_in import commands
from exhibit_ingest.sign_in.person import list_person


def run(options: argparse.Namespace, context: Context) -> int:
    """Run the command and return its exit code. Raises CommandError, which `--json` prints instead."""
    if options.command != "whoami":
        return commands.run(options, context.around)
    try:
        return _show_person(options, context)
    except CommandError as exc:
        if not options.json:
            raise
        print(format_json({"error": str(exc)}))
        return exc.exit_code


def _show_person(options: argparse.Namespace, context: Context) -> int:
    with context.open(options, may_be_new=True, is_quiet=True) as session:
        if options.json:
            described = {"stack": session.stack, "url": session.api.url, "me": session.me}
            print(format_json(described))
            return DONE
        rows = [("Stack", f"{session.stack} ({session.api.url})"), *list_person(session.me)]
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label.ljust(width)}  {value}")
    return DONE
