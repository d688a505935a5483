"""The arguments and help texts of `exhibit-ingest undo`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exhibit_ingest.arguments import parse_id
from exhibit_ingest.session.arguments import add_session_arguments

UNDO = """\
Undoes what an import did: removes the documents that it created, and restores the values, custodians and tags that it
changed. What was changed, tagged or produced since is kept, and listed with the reason. The load file is not needed.
The command shows the import and asks first; --dry-run shows what would happen and changes nothing."""
UNDO_EPILOG = """\
examples:
  exhibit-ingest imports --case acme
      list the imports of a case, with their numbers
  exhibit-ingest undo 12 --dry-run
      show what the undo of import 12 would remove, restore and keep
  exhibit-ingest undo 12
      undo it; if something was kept, the reasons are in kept.csv (docs/correcting-a-load.md explains them)

Undo several imports of a case one after another, the newest first; an undo waits for others of its case that run. The
undo belongs to the stack and goes on there after an interruption; the command, run again, shows the result. If the
stack ran for this command alone, the next command on this machine continues it, as long as that runs.
In a script, without a terminal or with --json, --yes is required unless there is --dry-run; otherwise the exit status
is 2. An import that is undone or being undone has no dry run: the result is that of the undo itself.
--json prints {"import", "status" (undone, undone_with_conflicts, nothing_to_undo, undo_failed or cancelled), "dry_run"
(false if the result is that of the undo itself), "undone_before" (whether an earlier command had undone the import),
"restored", "removed", "kept", "links_restored", "reasons": {code: documents}, "conflicts" (path of kept.csv or null),
"error", "seconds"}.

exit status: 0 undone, or nothing to undo (the file was only checked, or nothing of it was imported); 3 something was
kept; 1 failure, or the answer was no; 2 wrong usage, or there is no such import"""


def add_undo_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the command with `add`, which takes a name, a summary, a description and an epilog."""
    parser = add("undo", "undo an import", UNDO, UNDO_EPILOG)
    parser.add_argument("import_id", type=parse_id, metavar="IMPORT", help="number of the import")
    parser.add_argument("--dry-run", action="store_true", help="show what the undo would do, and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask, for scripts")
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
    add_session_arguments(parser)
