"""The arguments and help texts of `exhibit-ingest custody` and `devices`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from exhibit_ingest.arguments import parse_id, parse_path
from exhibit_ingest.custody.times import parse_time
from exhibit_ingest.session.arguments import add_session_arguments

if TYPE_CHECKING:
    from exhibit_ingest.parser import Parser

CUSTODY = """\
Records and shows the chain of custody of devices: who held one from when to when. A period includes its start and
excludes its end; the periods of a device do not overlap. A time has a zone (2026-11-21T15:00Z, 2026-11-21T16:00+01:00);
times are shown in UTC. Nothing is lost: `custody history` lists every change, with who made it and when."""
CUSTODY_EPILOG = """\
examples:
  exhibit-ingest custody hold 100 --begin 2026-11-21T09:00+01:00 --custodian "Ada Lovelace" --case acme
      device 100 is held by a custodian of the case acme, from then on
  exhibit-ingest custody transfer 100 --to "Grace Hopper" --at 2026-11-22T10:30+01:00
  exhibit-ingest custody change 7 --end 2026-11-23T18:00Z
      end period 7, whose number `custody show` has
  exhibit-ingest custody show 100

--json prints {"device", "periods": [...]}, {"devices": [...]} (show --case), {"periods": [...]} (hold), {"ended",
"begun"} (transfer), {"period"} (change), {"changes": [...]} (history), or {"error", "conflicts": [...]}.

exit status: 0 success; 1 failure, such as periods that would overlap; 2 wrong usage, or there is no such custodian"""

DEVICES = """\
Lists the devices by number, with who holds each now, since when (UTC), and how many periods are recorded. With DEVICE
and --label, names a device."""
DEVICES_EPILOG = """\
examples:
  exhibit-ingest devices 100 --label "Ada's laptop, asset 100"
      name device 100; --label "" removes its name

--json prints {"devices": [{"device_id", "label", "is_held", "since", "holder_id", "holder", "periods",
"last_change_at"}]}, {"device": {...}} with --label, or {"error"}."""

_SHOW = "Shows the custody periods of a device, or with --case the devices that custodians of the case hold now."
_HOLD = """\
Records a period of a device, or with --csv all periods of a file, all or none: columns device, begin, end, custodian,
note, of which the last three may be empty or missing."""
_TRANSFER = "Ends the period in which a device is held, and begins one of the receiver, both or neither."
_CHANGE = """\
Corrects or ends a period. With --if-version, only if no other user has changed it since you saw that version in
`custody show`."""
_HISTORY = "Lists every change of the periods of a device, oldest first, with the values after the change."

Add = Callable[..., "Parser"]


def add_custody_arguments(add: Add) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    custody = add("custody", "record and show who held a device", CUSTODY, CUSTODY_EPILOG)
    actions = custody.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    _add_show(_add_action(actions, "show", "show who held a device", _SHOW))
    _add_hold(_add_action(actions, "hold", "record who held a device", _HOLD))
    _add_transfer(_add_action(actions, "transfer", "record that a device changed hands", _TRANSFER))
    _add_change(_add_action(actions, "change", "correct or end a period", _CHANGE))
    _add_device(_add_action(actions, "history", "list the changes of a device's periods", _HISTORY))
    devices = add("devices", "list the devices and their holders", DEVICES, DEVICES_EPILOG)
    _add_device(devices, nargs="?")
    devices.add_argument("--label", metavar="TEXT", help="what you call the device; empty for nothing")
    devices.add_argument("--search", metavar="WORDS", help="only devices whose label has all of these words")
    for each in (*actions.choices.values(), devices):
        each.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
        add_session_arguments(each)


def _add_action(actions: Any, name: str, summary: str, description: str) -> Parser:
    form = argparse.RawDescriptionHelpFormatter
    parser: Parser = actions.add_parser(
        name, help=summary, description=description, formatter_class=form, allow_abbrev=False
    )
    return parser


def _add_device(parser: argparse.ArgumentParser, **settings: Any) -> None:
    number = partial(parse_id, kind="a device")
    parser.add_argument("device", type=number, metavar="DEVICE", help="your number of the device", **settings)


def _add_show(parser: argparse.ArgumentParser) -> None:
    _add_device(parser, nargs="?")
    parser.add_argument("--case", metavar="NAME", help="the devices that custodians of this case hold now")


def _add_hold(parser: argparse.ArgumentParser) -> None:
    _add_device(parser, nargs="?")
    parser.add_argument("--csv", type=parse_path, metavar="FILE", help="a file with periods, in UTF-8")
    _add_period(parser, begin="start of the period", end="end of the period (default: open)")
    _add_custodian(parser, "--custodian", "who holds the device (default: not recorded)")


def _add_transfer(parser: argparse.ArgumentParser) -> None:
    _add_device(parser)
    _add_custodian(parser, "--to", "who receives the device", required=True)
    parser.add_argument("--at", type=parse_time, metavar="TIME", help="time of the transfer (default: now)")
    parser.add_argument("--end", type=parse_time, metavar="TIME", help="end of the receiver's period (default: open)")
    parser.add_argument("--note", metavar="TEXT", help="note of the receiver's period")


def _add_change(parser: argparse.ArgumentParser) -> None:
    kind = "a period, which `custody show` lists"
    parser.add_argument("period", type=partial(parse_id, kind=kind), metavar="PERIOD", help="number of the period")
    _add_period(parser, begin="new begin (default: unchanged)", end="new end (default: unchanged; --open removes it)")
    parser.add_argument("--open", action="store_true", help="the period has no end: the device is still held")
    _add_custodian(parser, "--custodian", "who held the device")
    version = partial(parse_id, kind="a version, which `custody show` lists")
    parser.add_argument("--if-version", type=version, metavar="V", help="only if the period still has this version")


def _add_period(parser: argparse.ArgumentParser, begin: str, end: str) -> None:
    parser.add_argument("--begin", type=parse_time, metavar="TIME", help=begin)
    parser.add_argument("--end", type=parse_time, metavar="TIME", help=end)
    parser.add_argument("--note", metavar="TEXT", help="note of the period")


def _add_custodian(parser: argparse.ArgumentParser, option: str, text: str, **settings: Any) -> None:
    parser.add_argument(option, dest="custodian", metavar="NAME", help=f"{text}: a custodian of a case", **settings)
    parser.add_argument("--case", metavar="NAME", help="case of the custodian, where several cases have the name")
    parser.add_argument(
        "--new-custodian", action="store_true", help="add the custodian to --case, if it does not have the name"
    )
