"""The arguments of `python -m benchmarks.import_rate`, and what its help says."""

from __future__ import annotations

import argparse

from benchmarks.arguments import add_server, count, number
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale import FULL, SMALL, TURNS

# How many times a row of few a row of many may cost: as much is the goal, and machines drift.
LINEAR = 1.15
_POOL_MB = 2_048
_DESCRIPTION = f"""\
Generates a load file and imports it by the application's own handlers, with S3 and SQS on this machine (another
process, whose answers do not slow down with what it holds, as those of moto do); then once
more, unchanged; and brings the rows that came of it into empty copies of the tables by LOAD DATA, by the published
pattern's bulk code, and by SQLAlchemy's ORM. These three are given finished rows and account for nothing. All take
turns, in an order that rotates from run to run, and must leave as many rows. Rates are medians of the runs, ratios are
medians of the runs' ratios. LOAD DATA needs local_infile, which is switched on for the run.

With --scale: what a row costs in an import of --scale-rows against one of {SMALL:,} (a tenth of
--scale-rows, if that is less); the same where all rows share
one custodian and one tag; and what a row of {SMALL:,} more costs in the case that holds the large import. Handlers
alone count. The last {TURNS} stretches of the large import, or {FULL} imports into the full case, take turns with small
imports into fresh cases, and the ratio is the median of the turns'; raw is against small imports made before."""
_EPILOG = f"""examples:
  python -m benchmarks.import_rate
      five runs on a private server, about a minute; the table can be pasted into docs/performance.md
  python -m benchmarks.import_rate --rows 30000 --columns 20 --text 200 --runs 3 --json
      other rows; the result as one JSON object
  python -m benchmarks.import_rate --scale
      how cost grows up to a million rows, half an hour on a small machine and 3 GB of disk
  python -m benchmarks.import_rate --scale --scale-rows 100000 --buffer-pool 256
      a tenth of that, on a server with little memory

Let nobody else use the server and the machine: times are times.
exit status: 0 measured; 1 nothing could be measured, or a ratio of --scale is over {LINEAR}; 2 wrong usage;
130 interrupted"""


def parser() -> argparse.ArgumentParser:
    """What reads the command line; it exits with 2 where that cannot be understood."""
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.import_rate", None, _DESCRIPTION, _EPILOG, formatter_class=keep
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    _add_shape(made)
    made.add_argument("--runs", type=count, default=5, metavar="N", help="how often (default: %(default)s)")
    made.add_argument("--scale", action="store_true", help="measure how cost grows, instead")
    made.add_argument(
        "--scale-rows", type=number(1_000, 20_000_000), default=1_000_000, metavar="N", help="(default: %(default)s)"
    )
    made.add_argument(
        "--buffer-pool",
        type=number(5, 1_000_000),
        metavar="MB",
        help="size of InnoDB's buffer pool for the run, put back afterwards, where the server allows SET GLOBAL "
        f"(default: as it is; with --scale {_POOL_MB} on a private server, which has 256 otherwise: a million exhibits "
        "with their links take more than a GB, and an Aurora instance that holds them has more memory)",
    )
    add_server(made)
    return made


def shape_of(options: argparse.Namespace) -> Shape:
    """What the file is to be like."""
    return Shape(options.rows, options.columns, options.custodians, options.tags, options.text)


def buffer_pool_of(options: argparse.Namespace) -> int | None:
    """Megabytes, or None for what the server has."""
    if options.buffer_pool is None and options.scale and options.database_url is None:
        return _POOL_MB
    return int(options.buffer_pool) if options.buffer_pool else None


def _add_shape(made: argparse.ArgumentParser) -> None:
    usual = Shape()
    for name, least, most, default, meaning in (
        ("rows", 1, 1_000_000, 8_000, "of the file; --scale has its own"),
        ("columns", 0, 200, usual.columns, "with properties, beside ten others"),
        ("custodians", 1, 100_000, usual.custodians, "in all"),
        ("tags", 1, 100_000, usual.tags, "in all"),
        ("text", 1, 10_000, usual.text, "characters of a longer value"),
    ):
        said = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(least, most), default=default, metavar="N", help=said)
