"""Run a command that receives a signal when its parent process ends: `parent_death.py SIGNAL PARENT_PID COMMAND...`.

A PARENT_PID of 0 stands for the process that starts this one, where its id is not known in advance.

Linux only: on other systems the command runs without this guarantee. Run as a file and without site packages, to start
fast.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Request the signal from the kernel, then replace this process by the command."""
    death_signal, parent, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if parent and os.getppid() != parent:
            # The parent ended before the request.
            os.kill(os.getpid(), death_signal)
    os.execvp(command[0], command)  # noqa: S606 - without a shell on purpose


if __name__ == "__main__":
    main(sys.argv[1:])
