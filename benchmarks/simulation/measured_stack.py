"""Imports in the local stack: small and larger ones alone, then small ones beside a large one, on the same machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import psutil
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
_SMALL_RUNS, _WARM_ROWS = 5, 40_000
# For so long, what the stack uses while it has no work is measured; how long it may take to have none.
_IDLE_S, _IDLE_WITHIN_S = 10.0, 600.0
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
    rows = {"warm": _WARM_ROWS, "small": sizes.small, "larger": sizes.larger, "large": sizes.large}
    paths = {name: folder / f"{name}.dat" for name in rows}
    for name, path in paths.items():
        Shape(rows=rows[name], prefix=name.upper()).write(path)
    with LocalStack(folder / "state", StackOptions(workers=sizes.workers, minimal=True)) as stack:
        engine = create_engine(stack.database_url, isolation_level="AUTOCOMMIT")
        # Every worker has imported something before the first measurement. The small file is a new one to each tenant.
        _run_alone(stack, engine, paths["warm"], "alone", 0.0)
        idle = _measure_idle()
        runs = [_run_alone(stack, engine, paths["small"], f"alone-{number}", idle) for number in range(_SMALL_RUNS)]
        split_s, rest_s, after_s = map(median, zip(*runs, strict=True))
        small = Alone(sizes.small, split_s, split_s + rest_s, max(0.0, after_s))
        split_s, rest_s, _ = _run_alone(stack, engine, paths["larger"], "alone", idle)
        larger = Alone(sizes.larger, split_s, split_s + rest_s)
        uploads, seconds = _run_together(stack, engine, paths, sizes)
    return Measured((small, larger), uploads, seconds)


def _measure_idle() -> float:
    """Return the processors that are used while the stack has no work."""
    before = _read_processor_s()
    time.sleep(_IDLE_S)
    return _sum_since(before) / _IDLE_S


def _read_processor_s() -> dict[int, float]:
    """Return the processor seconds so far of this process and of each that it has started, by its id."""
    own, found = psutil.Process(), dict[int, float]()
    for each in (own, *own.children(recursive=True)):
        # It may have ended meanwhile.
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            found[each.pid] = times.user + times.system
    return found


def _sum_since(before: Mapping[int, float]) -> float:
    return sum(now - before.get(pid, 0.0) for pid, now in _read_processor_s().items())


def _run_alone(stack: LocalStack, engine: Engine, path: Path, tenant: str, idle: float) -> tuple[float, float, float]:
    """Return the seconds to the end of the split, from there to the end, and those of the processors afterwards.

    `idle` are the processors that are used without work.
    """
    began = time.monotonic()
    key = upload(stack, path, tenant)
    while read(engine, key)[0] in _BEFORE_CHUNKS:
        time.sleep(0.02)
    split_s = time.monotonic() - began
    ended_s = await_ends(engine, {"alone": key}, {"alone": began})["alone"]
    before, ended = _read_processor_s(), time.monotonic()
    stack.wait_until_idle(_IDLE_WITHIN_S)
    return split_s, ended_s - split_s, _sum_since(before) - idle * (time.monotonic() - ended)


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
