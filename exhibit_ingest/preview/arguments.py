"""The arguments and help texts of `exhibit-ingest preview`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exhibit_ingest.arguments import parse_path
from exhibit_ingest.importing.reading_arguments import add_reading_arguments
from exhibit_ingest.session.arguments import add_session_arguments
from exhibit_ingest.volumes.arguments import add_volume_arguments

_PREVIEW = """\
Shows how an import would read a load file: encoding, delimiter and so on with the reason and how sure it is, the field
of every column with samples and their stored values, and the first rows. The first 8 MB of the file at most are sent;
no case and no import is created. What the rest of the file can change is named. Of a folder or zip, one volume at a
time, it shows how the paths of its load files are found, by rule with an example of each, and which options would find
the others: all rows are read, and nothing is sent. That needs the stack of this machine; elsewhere, use `check`."""

_PREVIEW_EPILOG = """\
exit status: 0 the file can be read; 1 it cannot be imported, with the code of the import; 2 wrong usage"""


def add_preview_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the command with `add`, which takes a name, a summary, a description and an epilog."""
    preview = add("preview", "show how an import would read a load file", _PREVIEW, _PREVIEW_EPILOG)
    preview.add_argument("file", type=parse_path, metavar="FILE", help="load file, or the folder or zip of one volume")
    add_session_arguments(preview)
    add_reading_arguments(preview)
    add_volume_arguments(preview)
