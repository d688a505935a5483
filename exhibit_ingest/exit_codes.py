"""The exit codes of the command, except 128 and the number of a signal that ended it."""

DONE, FAILED, WRONG_USAGE, REJECTED = 0, 1, 2, 3
