"""The ratios of the last release, in baseline.json, and which of them have become worse since.

Only ratios are kept: their two terms are measured in turns in one run, so another day or machine changes them little.
They are compared with those of the same kind of server and of the same sizes, as others differ for that reason alone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("baseline.json")
# What two runs of one version can differ by.
TOLERANCE = 0.10
# Of all others, more is better.
_LESS_IS_BETTER = ("reimport", "server_cpu_vs_load_data")
_SERVER = re.compile(r"(\d+\.\d+)\S*-(MariaDB|MySQL)")


@dataclass(frozen=True)
class MeasuredRatios:
    """The ratios of a benchmark; None for one that could not be measured. `server` is its version, if it used one."""

    benchmark: str
    ratios: Mapping[str, float | None]
    sizes: Mapping[str, int]
    server: str = ""

    @property
    def name(self) -> str:
        """The benchmark and the kind of its server, as in `import_rate on MariaDB 10.11`."""
        found = _SERVER.search(self.server)
        return f"{self.benchmark} on {found[2]} {found[1]}" if found else self.benchmark


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Add the options of the file to a parser."""
    parser.add_argument(
        "--baseline",
        type=Path,
        default=FILE,
        metavar="FILE",
        help="ratios to compare with (default: baseline.json)",
    )
    parser.add_argument(
        "--write-baseline",
        action="store_true",
        help="before a release, on an idle machine: write the ratios to that file instead of comparing them",
    )


def follow_up(measured: MeasuredRatios, options: argparse.Namespace) -> None:
    """Write the ratios, or print on standard error which of them are worse than those of the last release."""
    known: dict[str, Any] = json.loads(options.baseline.read_text("utf-8")) if options.baseline.exists() else {}
    if options.write_baseline:
        entry: dict[str, Any] = {"release": version("exhibit-ingest"), "measured": f"{datetime.now(UTC):%Y-%m-%d}"}
        entry |= {"sizes": dict(measured.sizes), "ratios": {n: v for n, v in measured.ratios.items() if v is not None}}
        text = json.dumps(dict(sorted({**known, measured.name: entry}.items())), indent=2)
        options.baseline.write_text(f"{text}\n", "utf-8")
        print(f"{measured.name}: written to {options.baseline}", file=sys.stderr)
        return
    for line in compare(measured, known.get(measured.name)):
        print(f"{measured.name}: {line}", file=sys.stderr)


def compare(measured: MeasuredRatios, known: Mapping[str, Any] | None) -> list[str]:
    """Return a line for each ratio that is worse by more than a tenth, or one that says why there is none."""
    if known is None:
        return ["baseline.json has no ratios of it; --write-baseline writes them"]
    if dict(measured.sizes) != known["sizes"]:
        return [f"not compared with the last release, which was measured with {_format(known['sizes'])}"]
    lines = [
        f"slower: {name} was {before:.2f} in {known['release']} ({known['measured']}), now {now:.2f}"
        for name, before in known["ratios"].items()
        if (now := measured.ratios.get(name)) is not None and _is_worse(name, before, now)
    ]
    return lines or [f"no ratio is worse than in {known['release']} ({known['measured']}) by more than a tenth"]


def _is_worse(name: str, before: float, now: float) -> bool:
    return now > before * (1 + TOLERANCE) if name in _LESS_IS_BETTER else now < before / (1 + TOLERANCE)


def _format(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in sizes.items())
