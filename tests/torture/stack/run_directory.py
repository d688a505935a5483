"""How commands that play seeds end, and where their stacks lie."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from local.errors import LocalError

NOT_RUN, INTERRUPTED = 2, 130


def run_in_directory(play: Callable[[Path], int], keep: Path | None) -> int:
    """The exit code of `play`, in the directory to be kept or in one that is gone afterwards; 2 where nothing ran.

    A directory that is not empty is refused: what other seeds left there would be taken for violations.
    """
    try:
        if keep and keep.exists() and any(keep.iterdir()):
            raise LocalError(f"{keep} is not empty; name another directory")
        with tempfile.TemporaryDirectory(prefix="torture-") as directory:
            return play(keep or Path(directory))
    except LocalError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOT_RUN
    except KeyboardInterrupt:
        print("interrupted; nothing is left running", file=sys.stderr)
        return INTERRUPTED
