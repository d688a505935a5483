"""Imports in the local stack: small and larger ones alone, then small ones beside a large one, on the same machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sqlalchemy import Engine, create_engine

from benchmarks.imports.load_file import Shape
from benchmarks.simulation.cell import Upload
from benchmarks.simulation.validation import LARGE_TENANT, Alone
from benchmarks.two_tenants import await_ends, note_ends, read, upload
from core.statuses import ImportStatus
from local.stack import LocalStack, StackOptions

# Small files of other tenants are uploaded one after another, so that their waits have a mean. A worker is free again
# after a batch, some four seconds: pauses of one length would meet the same moments of it again and again.
_OTHERS, _PAUSES_S = 30, (2.0, 4.0)
_BEFORE_CHUNKS = {"", ImportStatus.SPLITTING}


@dataclass(frozen=True)
class StackSizes:
    """Rows of the files: small, larger (to find costs), and large; and the number of workers."""

    small: int
    larger: int
    large: int
    workers: int


@dataclass(frozen=True)
class Measured:
    """The imports that ran alone, the uploads beside the large one since its chunks began, and all seconds by name."""

    alone: tuple[Alone, Alone]
    uploads: Mapping[str, Upload]
    seconds: Mapping[str, float]


def measure_stack(folder: Path, sizes: StackSizes) -> Measured:
    """Measure all of it in one stack in that folder."""
    paths = {name: folder / f"{name}.dat" for name in ("warm", "small", "larger", "large")}
    for name, path in paths.items():
        Shape(rows=getattr(sizes, name, sizes.small), prefix=name.upper()).write(path)
    with LocalStack(folder / "state", StackOptions(workers=sizes.workers, minimal=True)) as stack:
        engine = create_engine(stack.database_url, isolation_level="AUTOCOMMIT")
        # Every worker has imported something before the first measurement.
        for _ in range(2):
            _run_alone(stack, engine, paths["warm"], sizes.small)
        small = _run_alone(stack, engine, paths["small"], sizes.small)
        larger = _run_alone(stack, engine, paths["larger"], sizes.larger)
        uploads, seconds = _run_together(stack, engine, paths, sizes)
    return Measured((small, larger), uploads, seconds)


def _run_alone(stack: LocalStack, engine: Engine, path: Path, rows: int) -> Alone:
    began = time.monotonic()
    key = upload(stack, path, "alone")
    while read(engine, key)[0] in _BEFORE_CHUNKS:
        time.sleep(0.02)
    split_s = time.monotonic() - began
    return Alone(rows, split_s, await_ends(engine, {"alone": key}, {"alone": began})["alone"])


def _run_together(
    stack: LocalStack, engine: Engine, paths: Mapping[str, Path], sizes: StackSizes
) -> tuple[dict[str, Upload], dict[str, float]]:
    began = {"large": time.monotonic()}
    keys = {"large": upload(stack, paths["large"], LARGE_TENANT)}
    while read(engine, keys["large"])[1] < sizes.workers:
        time.sleep(0.05)
    chunks_began, seconds = time.monotonic(), dict[str, float]()
    random = Random(0)
    for name in ("same", *(f"other {number + 1}" for number in range(_OTHERS))):
        began[name] = time.monotonic()
        keys[name] = upload(stack, paths["small"], _find_tenant(name))
        until = began[name] + random.uniform(*_PAUSES_S)
        while time.monotonic() < until:
            note_ends(engine, keys, began, seconds)
            time.sleep(0.05)
    left = {name: key for name, key in keys.items() if name not in seconds}
    seconds |= await_ends(engine, left, began)
    del began["large"]
    return {name: Upload(at - chunks_began, _find_tenant(name), sizes.small) for name, at in began.items()}, seconds


def _find_tenant(name: str) -> str:
    return name.replace(" ", "-") if name.startswith("other") else LARGE_TENANT
