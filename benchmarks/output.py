"""Exit codes, Markdown tables and percentiles of the benchmarks."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Sequence

from sqlalchemy.exc import SQLAlchemyError

from benchmarks.errors import BenchmarkError
from core.errors import ExhibitIngestError
from local.errors import LocalError
from shell.observability import logger

DONE, FAILED, INTERRUPTED = 0, 1, 130


def run_measurement(measure: Callable[[], int], cleanup: str = "no files are left") -> int:
    """Run a measurement and return its exit code; errors and interruptions are printed on standard error.

    `cleanup` is printed when the measurement is interrupted. The application's log is off while it runs.
    """
    level = logger.log_level
    logger.setLevel("CRITICAL")
    try:
        return measure()
    except (BenchmarkError, ExhibitIngestError, LocalError, SQLAlchemyError, OSError) as exc:
        print(f"error: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"interrupted; {cleanup}", file=sys.stderr)
        return INTERRUPTED
    finally:
        logger.setLevel(level)


def run_command(main: Callable[[], int]) -> None:
    """Run the command. SIGTERM is handled like Ctrl-C, so that schemas and servers are removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    formatted = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    return "\n".join([formatted[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *formatted[1:]])


def percentile_ms(seconds: Sequence[float], share: float) -> float:
    """Return a percentile (nearest rank) of sorted times in seconds, in milliseconds."""
    return 1000 * seconds[math.ceil(share * len(seconds)) - 1]
