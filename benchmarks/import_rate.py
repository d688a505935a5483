"""`python -m benchmarks.import_rate`: the import rate compared with other ways to write the rows, and its scaling.

Exit codes: 0 measured, 1 a ratio exceeds its limit or the benchmark failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchmarks.baseline import MeasuredRatios, follow_up
from benchmarks.database import Database, temporary_database
from benchmarks.imports.application import temporary_application
from benchmarks.imports.arguments import LINEAR, build_shape, get_buffer_pool, parser
from benchmarks.imports.baselines import Baseline
from benchmarks.imports.contenders import BASELINES, Contenders, report, table
from benchmarks.imports.memory import peak_mb
from benchmarks.imports.scale import Growth, Scale
from benchmarks.imports.server import buffer_pool, buffer_pool_mb, durability, local_infile
from benchmarks.output import DONE, FAILED, run_command, run_measurement
from benchmarks.output import table as markdown

DEFAULT, SHARED, FULL = "default", "shared_names", "full_case"
RATIOS = ("vs_load_data", "vs_pattern_bulk", "vs_orm", "reimport", "server_cpu_vs_load_data")
_KINDS = {
    DEFAULT: "a large file compared with small ones",
    SHARED: "the same, with one custodian and one tag on all rows",
    FULL: "more rows into the case of the large file",
}
Report = dict[str, object]
Databases = Callable[[str | None], AbstractContextManager[Database]]


def main(
    arguments: Sequence[str] | None = None,
    database: Databases = temporary_database,
    baselines: Mapping[str, Baseline] = BASELINES,
) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            if options.scale:
                return _measure_scaling(options, database, Path(folder))
            return _compare(options, database, baselines, Path(folder))

    return run_measurement(measure, "the schemas on the server are removed")


def _compare(options: argparse.Namespace, database: Databases, baselines: Mapping[str, Baseline], folder: Path) -> int:
    """Compare the import with the baselines."""
    shape, path = build_shape(options), folder / "load.dat"
    shape.write(path)
    with (
        database(options.database_url) as measured,
        buffer_pool(measured, get_buffer_pool(options)),
        temporary_application(measured) as application,
        local_infile(measured),
    ):
        runs = Contenders(application, path, folder, baselines).runs(options.runs)
        import_id, _ = application.start(application.upload(path, "memory"))
        peak = peak_mb(application.environment, import_id, application.pending(import_id))
        server = _describe_server(measured)
    setup = {"rows": shape.rows, "runs": options.runs, **server, "shape": dataclasses.asdict(shape), "peak_mb": peak}
    result = report(runs, shape.rows)
    print(json.dumps(result | setup, indent=2) if options.json else _format(setup, table(runs, shape.rows)))
    ratios: Any = {name: value for name, value in result.items() if name in RATIOS}
    sizes = {name: value for name, value in dataclasses.asdict(shape).items() if isinstance(value, int)}
    follow_up(MeasuredRatios("import_rate", ratios, sizes, str(server["server"])), options)
    return DONE


def _measure_scaling(options: argparse.Namespace, database: Databases, folder: Path) -> int:
    """Measure the cost per row of both large files, each in a new database."""
    growths, server = dict[str, Growth](), Report()
    usual = dataclasses.replace(build_shape(options), rows=options.scale_rows)
    for kind, shape in ((DEFAULT, usual), (SHARED, dataclasses.replace(usual, custodians=1, tags=1))):
        print(f"{kind}: {_KINDS[kind]}", file=sys.stderr)
        with (
            database(options.database_url) as measured,
            buffer_pool(measured, get_buffer_pool(options)),
            temporary_application(measured) as application,
        ):
            scale = Scale(application, folder, shape)
            growths[kind] = scale.large_file(weigh=kind == DEFAULT)
            if kind == DEFAULT:
                growths[FULL] = scale.full_case(growths[kind])
            server = _describe_server(measured)
    setup = {"rows": usual.rows, **server, "shape": dataclasses.asdict(usual)}
    scaled = {"scale": {kind: growth.report() for kind, growth in growths.items()}}
    print(json.dumps(setup | scaled, indent=2) if options.json else _format(setup, _scale_table(growths)))
    return check_result({kind: growth.ratio for kind, growth in growths.items()})


def check_result(ratios: Mapping[str, float]) -> int:
    """Return the exit code; print the ratios that exceed the limit."""
    over = [f"{kind} ({ratio:.2f})" for kind, ratio in ratios.items() if ratio > LINEAR]
    if over:
        print(
            f"error: a row of a large import costs more than {LINEAR} times a row of a small one: {', '.join(over)}",
            file=sys.stderr,
        )
    return FAILED if over else DONE


def _describe_server(database: Database) -> Report:
    pool = {"buffer_pool_mb": buffer_pool_mb(database)}
    return {"server": database.server(), **pool, "durability": durability(database)}


def _format(setup: Report, result: str) -> str:
    settings = setup["durability"]
    assert isinstance(settings, dict)  # noqa: S101 - set by `_describe_server`
    durable = ", ".join(f"{name} {value}" for name, value in settings.items())
    peak = (
        f"\npeak memory of a chunk, above that of the imported modules: {setup['peak_mb']} MB"
        if setup.get("peak_mb")
        else ""
    )
    server = f"{setup['server']}, buffer pool {setup['buffer_pool_mb']} MB; {durable}"
    return f"{server}\n{setup['rows']} rows\n\n{result}{peak}"


def _scale_table(growths: Mapping[str, Growth]) -> str:
    head = ["", "us per row", "small import", "ratio", "with the split", "raw", "raw with the split", "peak, MB"]
    return markdown(head, [_scale_row(kind, growth) for kind, growth in growths.items()])


def _scale_row(kind: str, growth: Growth) -> list[str]:
    few, many = growth.in_turns()
    ratios = [f"{growth.ratios()[name]:.2f}" for name in ("ratio", "ratio_with_start", "raw", "raw_with_start")]
    memory = " / ".join(f"{value}" for value in growth.memory.values())
    return [_KINDS[kind], f"{many.chunks:.0f}", f"{few.chunks:.0f}", *ratios, memory]


if __name__ == "__main__":
    run_command(main)
