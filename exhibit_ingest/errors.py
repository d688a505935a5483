"""The errors of the command; each message says what happened and what to do next."""

from __future__ import annotations

from exhibit_ingest.exit_codes import FAILED, WRONG_USAGE


class CommandError(Exception):
    """The command cannot continue; it ends with `exit_code`."""

    exit_code = FAILED


class WrongUsageError(CommandError):
    """What the user gave is wrong: an option, a name, an address, a variable of the environment."""

    exit_code = WRONG_USAGE
