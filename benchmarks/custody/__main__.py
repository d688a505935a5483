"""`python -m benchmarks.custody`."""

from __future__ import annotations

from benchmarks.custody.command import main
from benchmarks.output import run_command

if __name__ == "__main__":
    run_command(main)
