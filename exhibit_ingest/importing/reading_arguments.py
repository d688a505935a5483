"""The arguments that say how a load file is read, and whether it changes existing documents."""

from __future__ import annotations

import argparse

from exhibit_ingest.arguments import parse_id, parse_path
from exhibit_ingest.importing.fields import BLANKS, MODES, MULTI_VALUES, OVERLAY_KEYS

CORRECTIONS_HELP = """\
Corrected rejected rows count as corrected if the import says whose they are, each line once:
  exhibit-ingest import rejected_rows.dat --case acme --corrects 7
They are then read as import 7 was, without a mapping. A line that is corrected or discarded already is rejected
(LINE_NOT_OPEN), and so is a row that you added: import it in a file of its own, without --corrects. The row of an
overlay is rejected (DOCUMENT_CHANGED) if its document was changed since import 7 rejected the row.

"""


class _AddFormat(argparse.Action):
    """Adds a format to those by field."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        field, sign, form = str(values).partition("=")
        if not (field and sign and form):
            raise argparse.ArgumentError(self, f"{values!r} is not FIELD=FORMAT, such as date_sent=%d.%m.%Y")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), field: form})


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a file is read, and what is done with it."""
    mapping = "JSON file that maps columns to fields; the end of `exhibit-ingest import --help` describes it"
    parser.add_argument("--mapping", type=parse_path, metavar="FILE", help=mapping)
    profile = "mapping profile to read the file with; the other options override it"
    parser.add_argument("--profile", metavar="NAME", help=profile)
    parser.add_argument(
        "--encoding", metavar="E", help="utf-8, utf-16-le, utf-16-be or cp1252 (default: detected from the file)"
    )
    parser.add_argument(
        "--delimiter",
        metavar="D",
        help="a character, its decimal code, or comma, tab, pipe, dc4 ... (default: detected from the file)",
    )
    parser.add_argument(
        "--qualifier",
        metavar="Q",
        help="a character, its decimal code, or thorn, quote, none ... (default: detected from the file)",
    )
    parser.add_argument(
        "--header-line", type=int, metavar="N", help="line of the column names, if titles come before it (default: 1)"
    )
    zone = "IANA time zone, such as America/New_York, of times without an offset (default: as written)"
    parser.add_argument("--time-zone", metavar="Z", help=zone)
    parser.add_argument(
        "--date-format",
        action=_AddFormat,
        metavar="FIELD=FORMAT",
        help="the format of a field's dates with the letters of strptime, or excel: date_sent=%%d.%%m.%%Y; repeatable",
    )
    parser.add_argument(
        "--multi-value-separator",
        metavar="S",
        help="character between two custodians or tags in a cell; quoted values can then contain it (default: ;)",
    )
    parser.add_argument(
        "--nested-separator",
        metavar="S",
        help="character between the levels of a nested tag, such as / in Hot/Really Hot; it is stored as a backslash "
        "(default: tags as written)",
    )
    _add_overlay_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for an error")


def add_corrects_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that says whose rejected rows a file has."""
    parser.add_argument(
        "--corrects",
        type=parse_id,
        metavar="IMPORT",
        help="import whose rejected rows the file has, corrected: it is read as that import was",
    )


def _add_overlay_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="append: create documents; overlay: change existing ones; append_overlay: both (default: append)",
    )
    parser.add_argument(
        "--overlay-key",
        choices=OVERLAY_KEYS,
        help="the field that names the document of a row in an overlay (default: control_number)",
    )
    parser.add_argument(
        "--blanks",
        choices=BLANKS,
        help="a blank cell keeps the stored value or clears it (default: keep)",
    )
    parser.add_argument(
        "--multi-values",
        choices=MULTI_VALUES,
        help="custodians and tags are added to those of the document or replace them (default: merge)",
    )
