"""How benchmarks end and what they print: exit codes, Markdown tables, percentiles."""

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


def ending(measure: Callable[[], int], left: str = "nothing is left behind") -> int:
    """The exit code of a measurement; what ended it, and what is left of it then, is told on standard error.

    The application's log is silent meanwhile.
    """
    level = logger.log_level
    logger.setLevel("CRITICAL")
    try:
        return measure()
    except (BenchmarkError, ExhibitIngestError, LocalError, SQLAlchemyError, OSError) as exc:
        print(f"error: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"interrupted; {left}", file=sys.stderr)
        return INTERRUPTED
    finally:
        logger.setLevel(level)


def run(main: Callable[[], int]) -> None:
    """Run the command: what ends a job ends it as Ctrl-C does, so that no schema and no server is left behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned in the source too."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    return "\n".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]])


def percentile_ms(seconds: Sequence[float], share: float) -> float:
    """The nearest rank of sorted times, in milliseconds."""
    return 1000 * seconds[math.ceil(share * len(seconds)) - 1]
