"""`python -m benchmarks.volumes`: what a volume costs, as a zip and as a folder.

Exit codes: 0 measured, 1 the benchmark failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.arguments import add_server, number
from benchmarks.database import temporary_database
from benchmarks.imports.application import temporary_application
from benchmarks.output import DONE, run_command, run_measurement, table
from benchmarks.processes import Workers
from benchmarks.volumes.expansion import TIMEOUT_S, prepare_expansion, run_expansion
from benchmarks.volumes.folder import prepare_folder, run_folder
from benchmarks.volumes.sample import count_files, count_pages, write_zip

_WORKERS = (1, 2)
_STEPS = ("list", "rows", "pages")
_DESCRIPTION = """\
Generates a volume of documents with a native, a text and a TIFF file for each of their pages, of which they have five
on average. Imports it as a folder: one process lists the files, the next one imports the rows of the DAT with their
links, the last one the pages of the OPT. Then expands the same files as a zip, once by one worker process and once by
two: the directory is read and stored, then each unit of 1,000 entries is expanded as the queue's message would have it.
Only handlers are timed; processor time is that of the workers, without S3 and the server; memory is the peak of each
process above that of the imported modules. S3 is a process on this machine that keeps files: its requests take less
time than those of the bucket of a deployment, which in turn answers many workers at once."""
_EPILOG = """\
examples:
  python -m benchmarks.volumes
      20,000 documents with 100,000 pages; half an hour on a small machine, 1 GB of disk
  python -m benchmarks.volumes --no-zip
      the same without the expansion of the zip, which takes most of the time
  python -m benchmarks.volumes --documents 1000 --json
      a small volume; one JSON object

Run it on an otherwise idle server and machine.
exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with ExitStack() as stack:
            # Forked before any connection.
            expanding = stack.enter_context(closing(Workers(max(_WORKERS), prepare_expansion, TIMEOUT_S)))
            importing = [stack.enter_context(closing(Workers(1, prepare_folder, TIMEOUT_S))) for _ in _STEPS]
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-"))
            database = stack.enter_context(temporary_database(options.database_url))
            application = stack.enter_context(temporary_application(database))
            path = Path(folder) / "VOL001.zip"
            write_zip(path, options.documents)
            result: dict[str, Any] = {"server": database.server(), **_describe(options.documents, path), "zip": []}
            result |= run_folder(application, importing, path, options.documents)
            print(f"imported: {json.dumps({name: result[name] for name in _STEPS})}", file=sys.stderr)
            for count in () if options.no_zip else _WORKERS:
                result["zip"].append(run_expansion(application, expanding, path, count))
                print(f"expanded: {json.dumps(result['zip'][-1])}", file=sys.stderr)
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _describe(documents: int, path: Path) -> dict[str, int]:
    counts = {"documents": documents, "pages_of_documents": count_pages(documents), "files": count_files(documents)}
    return {**counts, "zip_bytes": path.stat().st_size}


def _format(result: Mapping[str, Any]) -> str:
    files, documents, pages = (result[name] for name in ("files", "documents", "pages_of_documents"))
    listing = result["list"]
    lines = [_format_line(f"list of {files:,} files", files, listing["list_s"], listing)]
    for name, count, what in (
        ("rows", documents, f"{documents:,} rows, {2 * documents:,} links"),
        ("pages", pages, f"{pages:,} pages"),
    ):
        seconds = sum(result[name][each] for each in ("start_s", "chunks_s", "complete_s"))
        lines.append(_format_line(what, count, seconds, result[name]))
    for each in result["zip"]:
        lines.append(_format_line(f"directory of the zip, {files:,} entries", files, each["list_s"], {}))
        lines.append(_format_line(f"expansion, workers: {each['workers']}", files, each["expand_s"], each))
    return table((result["server"], "seconds", "processor", "a second", "peak MB"), lines)


def _format_line(what: str, count: int, seconds: float, figures: Mapping[str, float]) -> list[str]:
    others = [
        f"{figures[name]:.{digits}f}" if name in figures else "" for name, digits in (("cpu_s", 1), ("peak_mb", 0))
    ]
    return [what, f"{seconds:.1f}", others[0], f"{count / seconds:,.0f}", others[1]]


def _parser() -> argparse.ArgumentParser:
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=100)
    parser = argparse.ArgumentParser(
        "python -m benchmarks.volumes", None, _DESCRIPTION, _EPILOG, formatter_class=formatter, allow_abbrev=False
    )
    parser.add_argument(
        "--documents", type=number(1, 1_000_000), default=20_000, metavar="N", help="documents (default: %(default)s)"
    )
    parser.add_argument("--no-zip", action="store_true", help="leave the expansion of the zip out")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_server(parser)
    return parser


if __name__ == "__main__":
    run_command(main)
