"""What work costs, in seconds: measured on one machine, or computed from such figures for Lambda and Aurora.

Assumed, not measured, because nothing has run on AWS yet: the figures with AWS in their comments.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.imports.aurora_model import (
    CHUNK_ROWS,
    COMMIT_S,
    COMMITS,
    FUNCTION_CPUS,
    ROUND_TRIP_S,
    ROW_BYTES,
    SPLIT_BYTES_S,
    STATEMENTS,
)


@dataclass(frozen=True)
class Costs:
    """Seconds of each piece of work where nothing else runs, and how many of the shared processors it uses then."""

    # A chunk: its rows, what it takes besides, and the processors of its function, of the server's, or of both.
    row_s: float
    chunk_s: float
    chunk_processors: float
    # Chunks of one import change its row one after another.
    import_row_s: float = 0.0
    # The invocation that splits a file.
    start_s: float = 0.0
    split_row_s: float = 0.0
    split_processors: float = 0.0
    # Ten messages are sent at once.
    send_s: float = 0.0
    complete_s: float = 0.0
    complete_processors: float = 0.0
    # What functions and queues still do after the end of an import, which does not wait for it, on one processor.
    after_s: float = 0.0
    delivery_s: float = 0.0
    cold_start_s: float = 0.0


@dataclass(frozen=True)
class MeasuredRow:
    """Microseconds of processor time of a row: in the functions, and on the server."""

    function_us: float
    server_us: float


# docs/performance.md, "More workers, and a model of Aurora": MySQL 9.7, the line of eight workers.
MEASURED = MeasuredRow(function_us=49.4, server_us=68.8)
# AWS: a message of SQS reaches a function that is warm; a first invocation by the processor times of "Cold start", at
# the share of a processor that a function has.
DELIVERY_S, COLD_START_S = 0.05, 1.1 / FUNCTION_CPUS
# The start and the completion of a small import, processor times of the functions on one machine at that share, and
# their statements and COMMITs.
START_S = 0.1 / FUNCTION_CPUS + STATEMENTS * ROUND_TRIP_S + COMMITS * COMMIT_S
COMPLETE_S = START_S
# AWS: SendMessageBatch.
SEND_S = 0.01


def build_aws_costs(measured: MeasuredRow = MEASURED, row_bytes: int = ROW_BYTES) -> Costs:
    """Return the costs on Lambda and Aurora by the assumptions of `benchmarks.imports.aurora_model`.

    The shared processors are those of the database; a function has its own.
    """
    row_s = measured.function_us / 1e6 / FUNCTION_CPUS + measured.server_us / 1e6
    chunk_s = STATEMENTS * ROUND_TRIP_S + COMMITS * COMMIT_S
    return Costs(
        row_s=row_s,
        chunk_s=chunk_s,
        chunk_processors=CHUNK_ROWS * measured.server_us / 1e6 / (CHUNK_ROWS * row_s + chunk_s),
        import_row_s=2 * ROUND_TRIP_S + COMMIT_S,
        start_s=START_S,
        split_row_s=row_bytes / SPLIT_BYTES_S,
        send_s=SEND_S,
        complete_s=COMPLETE_S,
        delivery_s=DELIVERY_S,
        cold_start_s=COLD_START_S,
    )
