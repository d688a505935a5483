"""What keeps a measurement from being made."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Nothing was measured, or not all of it; the message says why."""
