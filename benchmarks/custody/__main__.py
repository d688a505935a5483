"""`python -m benchmarks.custody`."""

from __future__ import annotations

from benchmarks.custody.command import main
from benchmarks.telling import run

if __name__ == "__main__":
    run(main)
