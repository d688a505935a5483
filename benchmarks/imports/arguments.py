"""The arguments and help texts of `python -m benchmarks.import_rate`."""

from __future__ import annotations

import argparse

from benchmarks.arguments import add_server, count, number
from benchmarks.baseline import add_baseline
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale import FULL, SMALL, TURNS

# The largest allowed cost of a row in a large import, as a multiple of a row in a small one.
LINEAR = 1.15
_POOL_MB = 2_048
_DESCRIPTION = f"""\
Generates a load file and imports it with the application's handlers, with S3 and SQS in another process on this machine
(whose response time, unlike moto's, does not grow with the stored data). Then imports the unchanged file again, and
writes the resulting rows to empty copies of the tables with LOAD DATA, with the bulk code of the published pattern and
with SQLAlchemy's ORM. These three baselines get finished rows and do no accounting. All run in turns, in an order that
rotates from run to run, and must write the same number of rows. Rates are medians over the runs, ratios are medians of
the runs' ratios. LOAD DATA needs local_infile, which is enabled for the benchmark.

With --scale: the cost of a row in an import of --scale-rows compared with an import of {SMALL:,} rows (or a tenth of
--scale-rows, if that is less); the same with one custodian and one tag on all rows; and the cost of a row of {SMALL:,}
additional rows in the case that contains the large import. Only the handlers are timed. The last {TURNS} stretches of
the large import, or {FULL} imports into the full case, run in turns with small imports into new cases, and the ratio is
the median of the turns' ratios; the raw ratio uses small imports that ran before the large one."""
_EPILOG = f"""examples:
  python -m benchmarks.import_rate
      five runs on a private server, about a minute; prints a Markdown table for docs/performance.md
  python -m benchmarks.import_rate --rows 30000 --columns 20 --text 200 --runs 3 --json
      other rows; the result as one JSON object
  python -m benchmarks.import_rate --scale
      scaling up to a million rows; half an hour on a small machine, 3 GB of disk
  python -m benchmarks.import_rate --scale --scale-rows 100000 --buffer-pool 256
      a tenth of that, with a small buffer pool

Run it on an otherwise idle server and machine.
exit status: 0 measured; 1 the benchmark failed, or a ratio of --scale is above {LINEAR}; 2 wrong usage;
130 interrupted"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; it exits with 2 on wrong usage."""
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.import_rate", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_baseline(made)
    _add_shape(made)
    made.add_argument("--runs", type=count, default=5, metavar="N", help="number of runs (default: %(default)s)")
    made.add_argument("--scale", action="store_true", help="measure the scaling instead of the comparison")
    made.add_argument(
        "--scale-rows",
        type=number(1_000, 20_000_000),
        default=1_000_000,
        metavar="N",
        help="rows of the large import (default: %(default)s)",
    )
    made.add_argument(
        "--buffer-pool",
        type=number(5, 1_000_000),
        metavar="MB",
        help="InnoDB's buffer pool during the benchmark; needs SET GLOBAL (default: unchanged; with --scale on a "
        f"private server {_POOL_MB} instead of 256, because a million exhibits with their links take more than a GB)",
    )
    add_server(made)
    return made


def build_shape(options: argparse.Namespace) -> Shape:
    """Return the shape of the load file."""
    return Shape(options.rows, options.columns, options.custodians, options.tags, options.text)


def get_buffer_pool(options: argparse.Namespace) -> int | None:
    """Return the buffer pool size in megabytes, or None to keep the server's size."""
    if options.buffer_pool is None and options.scale and options.database_url is None:
        return _POOL_MB
    return int(options.buffer_pool) if options.buffer_pool else None


def _add_shape(made: argparse.ArgumentParser) -> None:
    usual = Shape()
    for name, least, most, default, meaning in (
        ("rows", 1, 1_000_000, 8_000, "rows of the file; not used with --scale"),
        ("columns", 0, 200, usual.columns, "columns with properties, in addition to ten others"),
        ("custodians", 1, 100_000, usual.custodians, "custodians in the file"),
        ("tags", 1, 100_000, usual.tags, "tags in the file"),
        ("text", 1, 10_000, usual.text, "characters of long values"),
    ):
        description = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(least, most), default=default, metavar="N", help=description)
