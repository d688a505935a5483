"""The arguments and help texts of `exhibit-ingest cases`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import date

from exhibit_ingest.arguments import parse_path

CASE_ACTIONS = ("list", "rename", "close", "reopen", "hold", "lift", "purge", "withdraw", "certificate")

CASES = """\
Lists the cases of a tenant by name, with the number of documents, the number of imports and checks, when the last one
began (UTC), and the status. With an action, it changes one case, for which it takes the role admin: `close` ends the
work on a matter, so that nothing is imported or changed until `reopen`; `hold` places a legal hold, under which nothing
can be removed until `lift`; `purge` closes a case and has everything of it deleted for good, from a day on; `withdraw`
takes that back until it begins. `certificate` says what a purge has destroyed, and what remains where."""
CASES_EPILOG = """\
examples:
  exhibit-ingest cases
  exhibit-ingest cases rename "Smith" "Smith v. Jones"
      uploads under the former name still find the case
  exhibit-ingest cases close "Smith v. Jones"
      what runs goes on to its end
  exhibit-ingest cases hold "Smith v. Jones" --reason "Order of 2 March 2026"
  exhibit-ingest cases purge "Smith v. Jones" --confirm "Smith v. Jones" --after 2027-01-31
      everything is deleted from that day (UTC) on; without --after, today
  exhibit-ingest cases certificate 12 --output certificate.csv
      by the id of the case, because its name is gone at the end; --output FILE writes JSON, or a table to a .csv

A hold withdraws a requested purge, and refuses a new one. Tokens that are limited to the former name of a case do not
have it any more: have the claim changed, too.
--json prints {"cases": [{"name", "documents", "imports", "last_import_at", "status", "hold", "purge"}]}; an action
prints {"case": {"id", "name", "status", "hold", "purge"}}. A hold has "reason", "heldBy" and "heldAt"; a purge has
"after", "requestedBy" and "requestedAt"; each is null without one. `certificate` prints {"certificate": {"case_id",
"phase", "requested_by", "requested_at", "began_at", "ended_at", "next_at", "rows", "objects", "sha256", "locked",
"kept", "remains"}}; it is final once "ended_at" is set.

exit status: 0 success, also if it was so before; 1 failure, or the case does not allow it now: the message says what is
in the way; 2 wrong usage, or there is no such case"""


def add_case_arguments(parser: argparse.ArgumentParser, parse_case: Callable[[str], str]) -> None:
    """Add the arguments of the actions; `parse_case` parses the name of a case."""
    parser.add_argument("action", nargs="?", default="list", choices=CASE_ACTIONS, help="what to do (default: list)")
    parser.add_argument("name", nargs="?", type=parse_case, metavar="CASE", help="name of the case")
    parser.add_argument("new_name", nargs="?", type=parse_case, metavar="NEW_NAME", help="its name after `rename`")
    parser.add_argument("--reason", metavar="TEXT", help="why nothing may be removed, for `hold`")
    parser.add_argument("--confirm", metavar="CASE", help="the name of the case once more, for `purge`")
    parser.add_argument("--output", type=parse_path, metavar="FILE", help="write the certificate to it")
    parser.add_argument("--after", type=parse_day, metavar="DAY", help="first day of the purge, such as 2027-01-31")


def parse_day(text: str) -> str:
    """Return a day; raise argparse.ArgumentTypeError for another text."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day; write it as 2027-01-31") from exc
