"""The arguments and help texts of `exhibit-ingest produce`, `productions` and `volume`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from exhibit_ingest.arguments import parse_id, parse_number, parse_path
from exhibit_ingest.catalog.filters import add_filters
from exhibit_ingest.catalog.named_documents import add_names
from exhibit_ingest.session.arguments import add_session_arguments

if TYPE_CHECKING:
    from exhibit_ingest.parser import Parser

DEFAULT_DIGITS, MAX_DIGITS = 7, 12

PRODUCE = """\
Produces documents of a case: gives them Bates numbers, families together, and writes their natives, texts and images
with a DAT, an OPT file and a manifest to a volume. The command first checks what the production would be, shows it as a
draft, and asks; --dry-run ends there. Name the documents by filters, by their control numbers, by a file of these
(--from-file), or all of the case (--all)."""
PRODUCE_EPILOG = """\
examples:
  exhibit-ingest produce --case "Smith v. Jones" --tag Responsive --prefix SMITH --dry-run
      show the draft: documents, families, pages, Bates numbers, files that are missing
  exhibit-ingest produce --case "Smith v. Jones" --tag Responsive --without-tag Privileged --prefix SMITH
      produce them, after the question
  exhibit-ingest produce --case acme --from-file numbers.txt --include-families --prefix ACME --slip-sheets --yes

Pages are numbered where documents have pages of an image load file, unless --no-number-pages says otherwise. A prefix
keeps its digits and continues; without --volume, the volume is the next one of VOL001, VOL002 ... in the case.
In a script, without a terminal or with --json, --yes is required unless there is --dry-run; otherwise the exit status
is 2. If the command is interrupted, the production goes on in the stack; where the command started that for itself,
`serve` goes on with it. `productions show N` says how far it is.
--json prints {"request", "check": {"documents", "families", "with_pages", "files", "numbers",
"expected_numbers", "first_bates", "last_bates", "expected_last_bates", "findings", "uncounted_images",
"unchecked_files"}, "production" (as `productions show` has it; null
without one)}, or {"error"}.

exit status: 0 produced, or the draft has nothing that refuses it; 3 documents cannot be produced, or the production
needs attention; 1 failure, cancelled, or the answer was no; 2 wrong usage, or there is no such case or document"""

PRODUCTIONS = """\
Lists productions, newest first; with an action, shows, cancels, retries or downloads one. Times are in UTC."""
PRODUCTIONS_EPILOG = """\
examples:
  exhibit-ingest productions --case "Smith v. Jones"
  exhibit-ingest productions show 4
  exhibit-ingest productions download 4 deliveries
      get the volume; run it again to go on, or to check all files and get those that were changed
  exhibit-ingest productions crosswalk 4 --csv crosswalk.csv
      which control number has which production numbers

--json prints {"productions": [...]}, {"production"}, {"production", "folder", "files", "bytes", "downloaded",
"already_there"} for a download, {"documents": [...]} for a crosswalk, or {"error"}.

exit status: 0 success; 3 the production needs attention; 1 failure; 2 wrong usage, or there is no such production"""

VOLUME = "Downloads the volume of a confirmed production, as `productions download` does, and prints its folder."

_SHOW = "Shows a production: its numbers, steps, warnings and what is left to do."
_CANCEL = """\
Cancels a production that is not confirmed: its files are deleted, and its numbers are void for ever. Asks first."""
_RETRY = "Goes on with a production that needs attention, after its cause is fixed."
_DOWNLOAD = """\
Downloads the volume of a confirmed production to FOLDER/<volume>, 8 files at once, and prints that folder. The hash of
every file is compared with the manifest. Files that are there with the same bytes are not downloaded again."""
_CROSSWALK = "Lists the control number of each document with its production numbers and pages, void ones too."

Add = Callable[..., "Parser"]


def add_production_arguments(add: Add) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    _add_produce(add("produce", "produce documents under Bates numbers", PRODUCE, PRODUCE_EPILOG))
    productions = add("productions", "list, follow and download productions", PRODUCTIONS, PRODUCTIONS_EPILOG)
    productions.add_argument("--case", metavar="NAME", help="only productions of this case")
    number = partial(parse_number, least=1, most=2**31, expected="a number from 1")
    productions.add_argument(
        "--limit", type=number, metavar="N", help="at most N productions (default for a table: 50)"
    )
    _add_common(productions)
    _add_actions(productions)
    volume = add("volume", "download the volume of a production", VOLUME, None)
    _add_download(volume)
    _add_common(volume)


def _add_produce(parser: Parser) -> None:
    parser.takes_words_anywhere = True
    parser.add_argument("--case", required=True, metavar="NAME", help="case of the documents")
    named = parser.add_argument_group("documents by name")
    add_names(named)
    add_filters(parser)
    _add_numbers(parser.add_argument_group("numbers and volume"))
    parser.add_argument(
        "--include-families", action="store_true", help="produce all members of the families of these documents too"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the draft, and produce nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask, for scripts")
    parser.add_argument("--no-wait", action="store_true", help="request the production, and do not follow it")
    _add_common(parser)


def _add_numbers(group: argparse._ArgumentGroup) -> None:
    first = partial(parse_number, least=1, most=10**MAX_DIGITS - 1, expected="a number from 1")
    digits = partial(parse_number, least=1, most=MAX_DIGITS, expected=f"a number from 1 to {MAX_DIGITS}")
    group.add_argument("--prefix", required=True, metavar="P", help="prefix of the Bates numbers, such as SMITH")
    group.add_argument("--start", type=first, metavar="N", help="first number of a new prefix (default: 1)")
    group.add_argument(
        "--digits", type=digits, metavar="N", help=f"digits of a new prefix's numbers (default: {DEFAULT_DIGITS})"
    )
    group.add_argument(
        "--number-pages",
        action=argparse.BooleanOptionalAction,
        help="one number for each page, or for each document (default: for each page where documents have pages)",
    )
    group.add_argument(
        "--slip-sheets", action="store_true", help="a numbered slip sheet for each document without images"
    )
    group.add_argument("--volume", metavar="NAME", help="name of the volume (default: the next of VOL001, VOL002 ...)")
    group.add_argument(
        "--property",
        dest="properties",
        action="append",
        metavar="NAME",
        help="a column of the original load file to include; several: repeat it",
    )


def _add_actions(parser: Parser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    show = _add_action(actions, "show", "show a production", _SHOW)
    cancel = _add_action(actions, "cancel", "cancel a production", _CANCEL)
    cancel.add_argument("--yes", action="store_true", default=False, help="do not ask, for scripts")
    retry = _add_action(actions, "retry", "go on with a production that needs attention", _RETRY)
    for each in (cancel, retry):
        each.add_argument("--no-wait", action="store_true", default=False, help="do not follow the production")
    for each in (show, cancel, retry):
        _add_number(each)
    _add_download(_add_action(actions, "download", "download the volume of a production", _DOWNLOAD))
    crosswalk = _add_action(actions, "crosswalk", "list control numbers with production numbers", _CROSSWALK)
    _add_number(crosswalk)
    crosswalk.add_argument("--csv", type=parse_path, default=None, metavar="FILE", help="write a CSV file for Excel")
    for each in actions.choices.values():
        _add_common(each)


def _add_action(actions: Any, name: str, summary: str, description: str) -> Parser:
    # What is given before the action must not be replaced by a default of the action.
    settings = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser: Parser = actions.add_parser(
        name, help=summary, description=description, argument_default=argparse.SUPPRESS, **settings
    )
    return parser


def _add_number(parser: argparse.ArgumentParser) -> None:
    kind = "a production, which `productions` lists"
    parser.add_argument("production", type=partial(parse_id, kind=kind), metavar="N", help="number of the production")


def _add_download(parser: argparse.ArgumentParser) -> None:
    _add_number(parser)
    parser.add_argument("folder", type=parse_path, metavar="FOLDER", help="where the folder of the volume is created")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
    add_session_arguments(parser)
