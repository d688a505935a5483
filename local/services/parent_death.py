"""Runs a command that dies with the process that wanted it: `child.py SIGNAL PARENT_PID COMMAND...`.

A parent of 0 is whoever starts it, where that is not known before.

Linux only: elsewhere the command runs without that promise. Run as a file and without site packages, to start fast.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Become the command, having asked the kernel for the signal."""
    death_signal, parent, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if parent and os.getppid() != parent:
            # The parent died before the kernel was asked.
            os.kill(os.getpid(), death_signal)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
