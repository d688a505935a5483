"""The error of the benchmarks."""

from __future__ import annotations


class BenchmarkError(Exception):
    """A measurement failed or is incomplete; the message is the reason."""
