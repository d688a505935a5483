"""The arguments and help texts of `exhibit-ingest run`, `cancel`, `retry`, `operations` and `profiles`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from exhibit_ingest.arguments import parse_id
from exhibit_ingest.session.arguments import add_session_arguments

# What `operations --retry` has without a number.
ALL_EVENTS = 0
PROFILE_ACTIONS = ("list", "show", "save", "copy", "delete")

RUN = """\
Imports a file that the stack has: an import that is held, so that its reading could be looked at in the console, or one
that was checked. The file is not sent again. It is read as its options say now. Of a check with findings, say what you
accept. Of a folder or zip, this imports one load file; the command `import` with the folder imports all of them."""
RUN_EPILOG = """\
examples:
  exhibit-ingest run 12
      import what `check` has found nothing against, and wait
  exhibit-ingest run 12 --accept-rejections
      import the rows that can be imported; `rejections 12` then has the others

--json prints {"import", "case", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated",
"rejected", "warnings", "open_rejections", "failure_code", "error", "seconds"}.

exit status: 0 done, or requested with --no-wait; 3 rows were rejected; 1 failure, or the import cannot be run; 2 wrong
usage, or there is no such import"""

CANCEL = """\
Cancels an import: no further row is imported, and the rows that are in stay. `retry` goes on with it. Of an import that
is being undone, the undo is cancelled, if it has not begun. The command asks only before it ends an upload."""
CANCEL_EPILOG = """\
--json prints {"import", "case", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated",
"rejected", "warnings", "open_rejections", "failure_code", "error", "seconds"}.

exit status: 0 cancelled, also if it was before; 1 failure, or the import has ended; 2 wrong usage, or there is no such
import"""

RETRY = """\
Goes on with an import that was cancelled, or of which something failed: chunks that failed in every attempt, a file
that could not be read, the last step. Rows that are in are not imported again, and rejected rows are not retried:
`rejections` corrects them. The command waits until the import has ended."""
RETRY_EPILOG = """\
--json prints {"import", "case", "file_name", "status", "phase", "rows_seen", "imported", "unchanged", "updated",
"rejected", "warnings", "open_rejections", "failure_code", "error", "seconds"}.

exit status: 0 done, or requested with --no-wait; 3 rows were rejected; 1 failure, or there is nothing to retry; 2 wrong
usage, or there is no such import"""

OPERATIONS = """\
Lists what runs, waits for a turn and failed in all cases of the tenant, newest first, and the events that could not be
published. It takes the role admin. With --retry, events that could not be published are published again; `retry` goes
on with an import."""
OPERATIONS_EPILOG = """\
examples:
  exhibit-ingest operations
  exhibit-ingest operations --retry
      publish all events again that could not be published
  exhibit-ingest operations --retry 991

Of each kind, 100 are listed, and a count of 100 can be more; `total_is_lower_bound` says so.
--json prints {"groups": [{"kind", "state", "total", "total_is_lower_bound", "items": [{"id", "status", "case_id",
"case", "name", "since", "chunks_failed", "code", "reason", "can_be_retried"}]}], "events": {"total",
"total_is_lower_bound", "items": [{"id", "event_type", "target", "object_type", "object_id", "created_at",
"dead_lettered_at", "attempts", "refusals", "refusal"}]}, "failed_days"}; with --retry {"retried", "left",
"left_is_lower_bound"}.

exit status: 0 nothing failed, or nothing is left to retry; 3 something failed, or is left; 1 failure; 2 wrong usage, or
there is no such event"""

PROFILES = """\
Mapping profiles say how files of one kind are read; `import --profile NAME` uses one, and the import keeps its copy.
Each change raises the version; earlier versions are not kept."""
PROFILES_EPILOG = """\
examples:
  exhibit-ingest profiles
      list the profiles with their versions
  exhibit-ingest profiles show "Vendor A"
      print its options and columns; with --json, "options" is what --mapping reads from a file
  exhibit-ingest profiles save "Vendor A" --import 12
      keep how the file of import 12 was read, as a new profile or as the next version of it
  exhibit-ingest profiles copy "Vendor A" "Vendor A, volumes"
  exhibit-ingest profiles delete "Vendor A"

A profile is replaced or deleted only in the version that the command has shown, and after a question; in a script, or
with --json, --yes is required.
--json prints {"profiles": [{"name", "version", "columns", "updated_by", "updated_at"}]}; the other actions print
{"profile": {"name", "version", "options", "created_by", "created_at", "updated_by", "updated_at"}}.

exit status: 0 success; 1 failure, or the answer was no; 2 wrong usage, or there is no such profile or import"""


def add_act_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    run = add("run", "import a file that is held or was checked", RUN, RUN_EPILOG)
    run.add_argument("import_id", type=parse_id, metavar="IMPORT", help="number of the import")
    for option, text in (
        ("--acknowledge-warnings", "import it although the check has warnings"),
        ("--accept-rejections", "import it although rows will be rejected, or the check has warnings"),
        ("--require-unchanged", "only if no document of the case was changed since the check began"),
    ):
        run.add_argument(option, action="store_true", help=text)
    _add_no_wait(run, "do not wait until the import has ended; without effect on a stack of the command's own")
    cancel = add("cancel", "cancel an import", CANCEL, CANCEL_EPILOG)
    cancel.add_argument("import_id", type=parse_id, metavar="IMPORT", help="number of the import")
    cancel.add_argument("--yes", action="store_true", help="do not ask before an upload is ended, for scripts")
    _add_no_wait(cancel, "do not wait for the report files")
    retry = add("retry", "go on with an import that was cancelled or failed", RETRY, RETRY_EPILOG)
    retry.add_argument("import_id", type=parse_id, metavar="IMPORT", help="number of the import")
    _add_no_wait(retry, "do not wait until the import has ended; without effect on a stack of the command's own")
    operations = add("operations", "list what runs, waits and failed", OPERATIONS, OPERATIONS_EPILOG)
    operations.add_argument(
        "--retry",
        nargs="?",
        const=ALL_EVENTS,
        type=partial(parse_id, kind="an event"),
        metavar="EVENT",
        help="publish this event again, or all events that could not be published",
    )
    profiles = add("profiles", "list, save and delete mapping profiles", PROFILES, PROFILES_EPILOG)
    _add_profiles(profiles)
    for parser in (run, cancel, retry, operations, profiles):
        parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
        add_session_arguments(parser)


def _add_no_wait(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--no-wait", action="store_true", help=text)


def _add_profiles(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default="list", choices=PROFILE_ACTIONS, help="what to do (default: list)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the profile")
    parser.add_argument("new_name", nargs="?", metavar="NEW_NAME", help="name of its copy")
    parser.add_argument("--import", dest="import_id", type=parse_id, metavar="IMPORT", help="import to save")
    parser.add_argument("--yes", action="store_true", help="do not ask before a profile is replaced or deleted")
