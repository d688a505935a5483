"""What reading one small file may take: processor time, time, and memory.

Guaranteed: what takes longer is interrupted, also inside a regular expression. Not guaranteed: the memory of a file
that takes no more than another took before: what is measured is the most that this process ever had.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PROCESSOR_S = 2.0
# A machine that others use too may not give a file any time for long; a wait that never ends is longer.
CLOCK_S = 600.0
MEMORY_BYTES = 100_000_000


class ExceededError(Exception):
    """A file took more than it may."""


@contextmanager
def bounded(processor_s: float = PROCESSOR_S, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Raises ExceededError, in the main thread, where the block takes more than so much; blocks may not be nested."""
    handlers = {number: signal.signal(number, _too_long) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, processor_s)
    # The program that runs the tests may have set an alarm too.
    theirs = signal.setitimer(signal.ITIMER_REAL, CLOCK_S)
    before = most_memory()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.setitimer(signal.ITIMER_REAL, *theirs)
    more = most_memory() - before
    if more > memory_bytes:
        raise ExceededError(f"{more:,} bytes of memory more than anything before it took")


def most_memory() -> int:
    """The most bytes that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _too_long(number: int, _frame: FrameType | None) -> None:
    raise ExceededError("too much processor time" if number == signal.SIGPROF else f"more than {CLOCK_S:.0f} s")
