"""The arguments and help texts of `exhibit-ingest import` and `check`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from textwrap import fill

from exhibit_ingest.arguments import add_workers, parse_path
from exhibit_ingest.importing.expected_arguments import EXPECTED_HELP, add_expect_argument
from exhibit_ingest.importing.fields import DATES, KEYS, TEXTS, TIMES
from exhibit_ingest.importing.reading_arguments import CORRECTIONS_HELP, add_corrects_argument, add_reading_arguments
from exhibit_ingest.session.arguments import add_session_arguments
from exhibit_ingest.uploads.limits import parse_rate
from exhibit_ingest.volumes.arguments import VOLUME_HELP, add_volume_arguments

EXIT_STATUS = """\
exit status: 0 every row is in the case; 3 rows were rejected; 1 an import failed, or --expect found a difference (also
if rows were rejected); 2 wrong usage"""

_FIELDS = fill(
    " ".join(("fields:", *KEYS, *TEXTS, "custodians tags property", *DATES, *TIMES)),
    width=120,
    subsequent_indent=8 * " ",
)
_IMPORT_EPILOG = (
    """\
examples:
  exhibit-ingest import production.dat --case acme
  exhibit-ingest import export.txt --case acme --delimiter pipe --qualifier none --encoding cp1252
  exhibit-ingest import headerless.csv --case acme --mapping mapping.json
  exhibit-ingest import VOL001 --case acme
  exhibit-ingest import VOL001.zip --case acme --load-file DATA/VOL001_reload.dat --missing-files reject

"""
    + VOLUME_HELP
    + """

The mapping file assigns columns to fields, by header name or by number from 1. Columns that it does not name are
recognised by their header:
  {"columns": {"Doc ID": "control_number", "Author": "custodians"}}
It can also hold any other import option (header, header_line, date_order, time_zone, newline, line_ends, cells, mode;
see docs/load-files.md):
  {"header": false, "date_order": "DMY", "columns": {"1": "control_number", "2": "title"}}
"""
    + _FIELDS
    + """

Rejected rows are written to a folder whose name begins with the number of the import, in the file's own format, with
the reasons in report.csv; the paths are printed. Fix them and import that file with the command that is printed. It
names the import with --corrects or, where a file cannot correct its rows, options.json as the mapping. The last
column, ExhibitIngestLine, is the row's line in the original file: leave it as it is; without --corrects, write new
there in a row that you add. columns.csv says how each column was read. deficiencies.txt is what the producing party
has to send or correct, ready to be sent; deficiencies.csv is the same as a table.

--json prints {"imports": [{"file", "import_id", "status" (completed, completed_with_rejections or failed), "error",
  "mode", "rows_seen", "imported", "unchanged", "updated", "rejected", "warnings", "custodians_created", "tags_created",
  "encoding", "delimiter", "qualifier", "profile", "saved_profile", "rejected_by_code", "warnings_by_code", "pages" (of
  an OPT or LFP file), "bates" ("first" and "last" number), "stored_paths" (of files that are not linked, because the
  load file is not imported with its folder or zip), "columns": [{"name", "field", "why", ...}], "seconds", "reports"
  (paths by name)}]}. A count or a reading that does not exist is 0 or null. With --expect, also "differences":
  [{"name", "expected", "found"}].

"""
    + EXPECTED_HELP
    + (CORRECTIONS_HELP + EXIT_STATUS)
)

_IMPORT = """\
Imports load files, or productions in a folder or zip with their natives, texts and images, into a case. Every row is
imported once, or rejected with its line number and the reason; importing a file again adds nothing. Run `preview` and
`check` first for a new kind of file."""

_CHECK = """\
Reads load files as `import` does, compares every row with the case, and imports nothing: what would be imported, left
unchanged or rejected and why, which values would be changed, and which custodians and tags would be new. Every row is
checked. A folder or zip is checked with its files: it is sent as for an import. A case that does not exist is created,
without documents."""

_CHECK_EPILOG = """\
examples:
  exhibit-ingest check production.dat --case acme
      check one load file, with the options that `import` takes
  exhibit-ingest check vol1.dat vol2.dat --case acme --json
      check several files, each against the case as it is; print the result as one JSON object:
      {"checks": [{"file", "import_id", "status" (ok, warnings or errors), "error", "rows_seen", "would_import",
      "would_update", "unchanged", "would_reject", "new_custodians", "new_tags", "encoding", "delimiter", "qualifier",
      "columns", "stored_paths", "changed_columns", "saved_profile", "examples" (of changed values),
      "findings": [{"code", "severity", "count", "first_line", "message"}], "report", "deficiencies", "seconds"}]}
  exhibit-ingest check VOL001 --case acme
      check a production in a folder or zip, with the natives, texts and images that are missing; --json adds "volume",
      "pages" and "files", as `exhibit-ingest import --help` describes

docs/load-files.md explains each code: those of an import, and those that only a check finds. All findings, line by
line, are written to findings.csv in a folder whose name begins with the number of the import; its path is printed.
deficiencies.txt and deficiencies.csv beside it are what the producing party has to send or correct.

exit status: 0 every row would be imported or is unchanged; 3 rows would be rejected; 1 a file cannot be imported,
or --expect found a difference; 2 wrong usage"""


def add_import_arguments(add: Callable[[str, str, str | None, str], argparse.ArgumentParser]) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    _add_import_arguments(add("import", "import load files into a case", _IMPORT, _IMPORT_EPILOG))
    check = add("check", "find what an import would do, and import nothing", _CHECK, _CHECK_EPILOG)
    _add_import_arguments(check, is_check=True)


def _add_import_arguments(parser: argparse.ArgumentParser, *, is_check: bool = False) -> None:
    parser.add_argument(
        "files", nargs="+", type=parse_path, metavar="FILE", help="load file, or folder or zip of a production"
    )
    use = "case to compare with" if is_check else "case to import into"
    parser.add_argument(
        "--case",
        required=True,
        metavar="NAME",
        help=f"{use}; created if it does not exist, unless a case with a similar name does",
    )
    parser.add_argument(
        "--create-case", action="store_true", help="create the case although a case with a similar name exists"
    )
    add_session_arguments(parser)
    add_workers(parser)
    parser.add_argument(
        "--limit-rate", type=_parse_rate, metavar="RATE", help="send at most so many bytes a second, such as 20M"
    )
    add_expect_argument(parser)
    add_corrects_argument(parser)
    parser.add_argument(
        "--save-profile",
        metavar="NAME",
        help="save how the first file is read, its options and columns, as a mapping profile or its next version",
    )
    add_reading_arguments(parser)
    add_volume_arguments(parser)


def _parse_rate(text: str) -> int:
    try:
        return parse_rate(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
