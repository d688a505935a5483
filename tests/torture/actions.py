"""Where a worker can be met, and what can happen to it there. Workers know this much of the plan."""

from __future__ import annotations

from enum import Enum

# Each from two sides, but for `begin`.
LABELS = ("begin", "claim", "write", "commit", "publish", "store", "fetch", "acknowledge")
CALLS = ("publish", "store", "fetch")


class Action(Enum):
    """What happens to a worker at a point; the last four at calls to AWS, LOSE also before a COMMIT."""

    DIE = "SIGKILL"
    STOP = "SIGSTOP, and SIGCONT later"
    HANG = "it takes until its time-out"
    FAIL = "AWS answers with an error, and did nothing"
    THROTTLE = "AWS refuses for being asked too often"
    LOSE = "it was done, and the answer is lost"
    PART = "AWS takes a part of the batch"
