"""The arguments and help texts of `exhibit-ingest`."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TypeAlias

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.load_file.header_names import TIME_FIELDS
from core.roles import Role
from exhibit_ingest.catalog import arguments as lists
from exhibit_ingest.cli.reading_arguments import CORRECTIONS_HELP, add_corrects_argument, add_reading_arguments
from exhibit_ingest.parser import Parser, PrintVersion
from exhibit_ingest.program import PROGRAM
from exhibit_ingest.sign_in.arguments import add_sign_in_arguments
from exhibit_ingest.undo.arguments import add_undo_arguments
from exhibit_ingest.volumes.arguments import VOLUME_HELP, add_volume_arguments

_MOST_WORKERS, _API_PORT, _LAST_PORT = 64, 8700, 65535
DEFAULT_WORKERS = min(4, os.cpu_count() or 1)

_DESCRIPTION = """\
Imports litigation load files (Concordance DAT, CSV, TSV and similar formats) and whole productions (a folder or zip
with DAT, OPT or LFP, natives, texts and images) into MySQL on this machine. The command starts a private database, S3,
SQS and SNS, runs the same functions that run in AWS, and stops everything at the end; where `exhibit-ingest serve` is
running, imports use what it has started.
Every row is imported exactly once, or rejected with its line number and the reason."""

_EXIT_STATUS = """\
exit status: 0 every row is in the case; 3 rows were rejected; 1 an import failed; 2 wrong usage"""

_EPILOG = f"""\
examples:
  exhibit-ingest import production.dat --case "Smith v. Jones"
      import one load file; importing it again adds nothing
  exhibit-ingest import VOL001 --case acme
      import a production from its folder, or from VOL001.zip: documents, files and pages
  exhibit-ingest preview production.dat
      show how an import would read the file, without a server
  exhibit-ingest import vol1.dat vol2.dat --case acme --workers 4 --json
      import several files in the given order; print the result as one JSON object
  exhibit-ingest check production.dat --case acme
      find what the import would do before it does it
  exhibit-ingest documents --case acme --title "board budget"
      find documents; `cases` and `imports --case acme` list what there is
  exhibit-ingest undo 12 --dry-run
      find out what the undo of import 12 would do; without --dry-run, ask and undo it
  exhibit-ingest database-url
      print the URL of the database, to query what was imported
  exhibit-ingest serve
      serve the HTTP API on this machine until Ctrl-C; `exhibit-ingest token --tenant local --user me` prints a token
  exhibit-ingest reset
      delete the private database, the logs and the reports

To import into your own MySQL 8+ or MariaDB 10.6+, set
DATABASE_URL=mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4

{_EXIT_STATUS}"""

_FIELDS = fill(
    " ".join(("fields:", *KEYS, *TEXTS, "custodians tags property", *DATE_FIELDS, *TIME_FIELDS.values())),
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

Rejected rows are written to a folder in .local/reports/, whose name begins with the number of the import, in the
file's own format, with the reasons in report.csv. Fix them and import that file with the command that is printed. It
names the import with --corrects or, where a file cannot correct its rows, options.json as the mapping. The last
column, ExhibitIngestLine, is the row's line in the original file: leave it as it is; without --corrects, write new
there in a row that you add. columns.csv says how each column was read. deficiencies.txt is what the producing party
has to send or correct, ready to be sent; deficiencies.csv is the same as a table.

--json prints {"imports": [{"file", "import_id", "status" (completed, completed_with_rejections or failed), "error",
  "mode", "rows_seen", "imported", "unchanged", "updated", "rejected", "warnings", "custodians_created", "tags_created",
  "encoding", "delimiter", "qualifier", "profile", "saved_profile", "rejected_by_code", "warnings_by_code", "pages" (of
  an OPT or LFP file), "stored_paths" (of files that are not linked, because the load file is not imported with its
  folder or zip), "columns": [{"name", "field", "why", ...}], "seconds", "reports" (paths by name)}]}. A count or a
  reading that does not exist is 0 or null.

Imported documents belong to the tenant `local`. To read them over HTTP, run `exhibit-ingest serve` and get a token
with `exhibit-ingest token --tenant local --user me`.

"""
    + (CORRECTIONS_HELP + _EXIT_STATUS)
)

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
line, are written to findings.csv in a folder in .local/reports/, whose name begins with the number of the import.
deficiencies.txt and deficiencies.csv beside it are what the producing party has to send or correct.

exit status: 0 every row would be imported or is unchanged; 3 rows would be rejected; 1 a file cannot be imported;
2 wrong usage"""

_PREVIEW = """\
Shows how an import would read a load file: encoding, delimiter and so on with the reason and how sure it is, the field
of every column with samples and their stored values, and the first rows. Reads at most the first 8 MB (16 MB if no line
ends before) and changes nothing. No server is started, except for --profile, which is in the database. What the rest of
the file can change is named. Of a folder or zip, one volume at a time, it shows how the paths of its load files are
found, by rule with an example of each, and which options would find the others. All rows are read, nothing is sent."""

_PREVIEW_EPILOG = """\
exit status: 0 the file can be read; 1 it cannot be imported, with the code of the import; 2 wrong usage"""

_SERVE = """\
Serves the HTTP API on 127.0.0.1 until Ctrl-C, and prints a link that opens the console, signed in. Imported rows are
kept in the database. S3, SQS and SNS are in memory: uploads and messages are lost when the command ends. An import
that is still running then cannot finish: cancel it and upload its file again."""

_REQUEST_EXAMPLE = """\
example, in another terminal while `exhibit-ingest serve` runs:
  TOKEN=$(exhibit-ingest token --tenant local --user me)
  curl -sS -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8700/imports
A token is valid for an hour. When the API answers 401, get a new one."""

_SERVE_EPILOG = f"""\
{_REQUEST_EXAMPLE}

To use your own MySQL 8+ or MariaDB 10.6+ instead of the private database, set
DATABASE_URL=mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4"""

_TOKENS = """\
Prints a token for the local API, valid for an hour. The API need not be running. AWS does not accept the token."""

_DATABASE_URL = """\
Prints the URL of the database that holds the imported documents. If the private server is not running, it is started
and its schema is migrated; it then runs until `exhibit-ingest stop`. A server that `serve` or `import` started stops
with that command. If DATABASE_URL is set, its value is printed unchanged and nothing is started."""

_VOLUME = """\
Downloads the volume of a confirmed production from the S3 of a running `exhibit-ingest serve`, and prints its folder.
On AWS: aws s3 cp --recursive s3://BUCKET/productions/PRODUCTION/ FOLDER"""

_STOP = """\
Stops the private database server that `database-url` started. Imported documents are kept; the next command starts
the server again. A server named by DATABASE_URL is not touched."""

_RESET = """\
Stops the private database server and deletes it with all imported documents, the logs, the reports and the token
secret. Shows what it will delete and asks first. A database named by DATABASE_URL is not touched."""

_RAW = argparse.RawDescriptionHelpFormatter
_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; `command` names the subcommand. It raises UsageError on wrong usage."""
    top = Parser(PROGRAM, None, _DESCRIPTION, _EPILOG, formatter_class=_RAW, allow_abbrev=False)
    top.add_argument("--version", action=PrintVersion, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_import_arguments(_add(commands, "import", "import load files into a case", None, _IMPORT_EPILOG))
    _add_import_arguments(
        _add(commands, "check", "find what an import would do, and import nothing", _CHECK, _CHECK_EPILOG),
        is_check=True,
    )
    lists.add_lists(partial(_add, commands))
    add_undo_arguments(partial(_add, commands))
    add_sign_in_arguments(partial(_add, commands))
    preview = _add(commands, "preview", "show how an import would read a load file", _PREVIEW, _PREVIEW_EPILOG)
    preview.add_argument("file", type=Path, metavar="FILE", help="load file, or the folder or zip of one volume")
    preview.add_argument("--tenant", default="local", metavar="T", help="tenant that has the profile (default: local)")
    add_reading_arguments(preview)
    add_volume_arguments(preview)
    _add(commands, "database-url", "print the URL of the database; start the private server if needed", _DATABASE_URL)
    _add_serve_arguments(_add(commands, "serve", "serve the HTTP API until Ctrl-C", _SERVE, _SERVE_EPILOG))
    _add_token_arguments(_add(commands, "token", "print a token for the API", _TOKENS, _REQUEST_EXAMPLE))
    volume = _add(commands, "volume", "download the volume of a production", _VOLUME)
    volume.add_argument("production", type=_production, metavar="PRODUCTION", help="id of the production")
    volume.add_argument("folder", type=Path, metavar="FOLDER", help="folder in which the volume's folder is created")
    _add(commands, "stop", "stop the private database server that database-url started", _STOP)
    reset = _add(commands, "reset", "delete the private database, the logs and the reports", _RESET)
    reset.add_argument("--yes", action="store_true", help="do not ask, for scripts")
    return top


def _add(commands: _Commands, name: str, summary: str, description: str | None, epilog: str | None = None) -> Parser:
    # Abbreviated options in scripts would break with the next option of these letters.
    form = partial(commands.add_parser, formatter_class=_RAW, allow_abbrev=False)
    return form(name, help=summary, description=description, epilog=epilog)


def _add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=_port,
        default=_API_PORT,
        metavar="P",
        help="port on 127.0.0.1 (default: %(default)s; 0: any free port)",
    )
    _add_workers(parser)


def _add_token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenant", required=True, metavar="T", help="tenant whose documents the token gives access to")
    parser.add_argument("--user", required=True, metavar="U", help="user that changes are recorded under")
    parser.add_argument(
        "--role", choices=[*Role], type=Role, default=Role.ADMIN, help="what the user may do (default: admin)"
    )


def _add_import_arguments(parser: argparse.ArgumentParser, *, is_check: bool = False) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="load file, or folder or zip of a production"
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
    parser.add_argument("--tenant", default="local", metavar="T", help="tenant that owns the case (default: local)")
    _add_workers(parser)
    add_corrects_argument(parser)
    parser.add_argument(
        "--save-profile",
        metavar="NAME",
        help="save how the first file is read, its options and columns, as a mapping profile or its next version",
    )
    add_reading_arguments(parser)
    add_volume_arguments(parser)


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=partial(_number, least=1, most=_MOST_WORKERS, expected=f"a number from 1 to {_MOST_WORKERS}"),
        metavar="N",
        help=f"worker processes per function (default: {DEFAULT_WORKERS})",
    )


def _port(text: str) -> int:
    return _number(text, 0, _LAST_PORT, f"a number from 1 to {_LAST_PORT}, or 0 for any free port")


def _production(text: str) -> int:
    return _number(text, 1, 2**63 - 1, "the id of a production, a number")


def _number(text: str, least: int, most: int, expected: str) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return int(text)
