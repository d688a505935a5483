"""`python -m benchmarks.import_rate`: how fast rows are imported, beside other ways of writing them; how cost grows.

Exit codes: 0 measured, 1 a number is over its bound or nothing could be measured, 2 the command was called wrongly.
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

from benchmarks.database import Database, own_database
from benchmarks.imports.application import own_application
from benchmarks.imports.arguments import LINEAR, buffer_pool_of, parser, shape_of
from benchmarks.imports.memory import peak_mb
from benchmarks.imports.rivals import Rival
from benchmarks.imports.scale import Growth, Scale
from benchmarks.imports.server import buffer_pool, buffer_pool_mb, durability, local_infile
from benchmarks.imports.sides import RIVALS, Sides, report, table
from benchmarks.telling import DONE, FAILED, ending, run
from benchmarks.telling import table as markdown

DEFAULT, SHARED, FULL = "default", "shared_names", "full_case"
_KINDS = {
    DEFAULT: "the large file against small ones",
    SHARED: "the same, one custodian and one tag on all rows",
    FULL: "more rows into the case of the large file",
}
Said = dict[str, object]
Databases = Callable[[str | None], AbstractContextManager[Database]]


def main(
    arguments: Sequence[str] | None = None,
    database: Databases = own_database,
    rivals: Mapping[str, Rival] = RIVALS,
) -> int:
    """Measure and print; gives the exit code."""
    options = parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            if options.scale:
                return _scaled(options, database, Path(folder))
            return _compared(options, database, rivals, Path(folder))

    return ending(measure, "what was made on the server is removed")


def _compared(options: argparse.Namespace, database: Databases, rivals: Mapping[str, Rival], folder: Path) -> int:
    """The import beside the other ways."""
    shape, path = shape_of(options), folder / "load.dat"
    shape.write(path)
    with (
        database(options.database_url) as measured,
        buffer_pool(measured, buffer_pool_of(options)),
        own_application(measured) as application,
        local_infile(measured),
    ):
        found = Sides(application, path, folder, rivals).runs(options.runs)
        import_id, _ = application.start(application.upload(path, "weighed"))
        peak = peak_mb(application.environment, import_id, application.pending(import_id))
        said = _server(measured)
    told = {"rows": shape.rows, "runs": options.runs, **said, "shape": dataclasses.asdict(shape), "peak_mb": peak}
    print(
        json.dumps(report(found, shape.rows) | told, indent=2)
        if options.json
        else _shown(told, table(found, shape.rows))
    )
    return DONE


def _scaled(options: argparse.Namespace, database: Databases, folder: Path) -> int:
    """How cost grows: the two large files each in a database of its own."""
    growths, said = dict[str, Growth](), Said()
    usual = dataclasses.replace(shape_of(options), rows=options.scale_rows)
    for kind, shape in ((DEFAULT, usual), (SHARED, dataclasses.replace(usual, custodians=1, tags=1))):
        print(f"{kind}: {_KINDS[kind]}", file=sys.stderr)
        with (
            database(options.database_url) as measured,
            buffer_pool(measured, buffer_pool_of(options)),
            own_application(measured) as application,
        ):
            scale = Scale(application, folder, shape)
            growths[kind] = scale.large_file(weigh=kind == DEFAULT)
            if kind == DEFAULT:
                growths[FULL] = scale.full_case(growths[kind])
            said = _server(measured)
    told = {"rows": usual.rows, **said, "shape": dataclasses.asdict(usual)}
    scaled = {"scale": {kind: growth.report() for kind, growth in growths.items()}}
    print(json.dumps(told | scaled, indent=2) if options.json else _shown(told, _scale_table(growths)))
    return judged({kind: growth.ratio for kind, growth in growths.items()})


def judged(ratios: Mapping[str, float]) -> int:
    """The exit code; names what costs more than its share."""
    over = [f"{kind} ({ratio:.2f})" for kind, ratio in ratios.items() if ratio > LINEAR]
    if over:
        print(f"error: a row of many costs more than {LINEAR} times a row of few: {', '.join(over)}", file=sys.stderr)
    return FAILED if over else DONE


def _server(database: Database) -> Said:
    pool = {"buffer_pool_mb": buffer_pool_mb(database)}
    return {"server": database.server(), **pool, "durability": durability(database)}


def _shown(told: Said, result: str) -> str:
    settings = told["durability"]
    assert isinstance(settings, dict)  # noqa: S101 - `_server` made it
    durable = ", ".join(f"{name} {value}" for name, value in settings.items())
    peak = f"\nmost memory of a chunk, above the imports: {told['peak_mb']} MB" if told.get("peak_mb") else ""
    return (
        f"{told['server']}, buffer pool {told['buffer_pool_mb']} MB; {durable}\n{told['rows']} rows\n\n{result}{peak}"
    )


def _scale_table(growths: Mapping[str, Growth]) -> str:
    head = ["", "us a row", "of a small import", "ratio", "with the split", "raw", "raw with the split", "peak, MB"]
    return markdown(head, [_scale_row(kind, growth) for kind, growth in growths.items()])


def _scale_row(kind: str, growth: Growth) -> list[str]:
    few, many = growth.in_turns()
    ratios = [f"{growth.ratios()[name]:.2f}" for name in ("ratio", "ratio_with_start", "raw", "raw_with_start")]
    memory = " / ".join(f"{value}" for value in growth.memory.values())
    return [_KINDS[kind], f"{many.chunks:.0f}", f"{few.chunks:.0f}", *ratios, memory]


if __name__ == "__main__":
    run(main)
