"""The stack of this machine for the command: that of a running `serve`, or one that runs for the command alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.machine import MachineWish, RunningMachine
from local.errors import DiskFullError, LocalError
from local.lambda_runtime.invocation import FunctionStartError, InvocationFailedError
from local.services.disk_space import check_disk_space, temporary_folder
from local.services.processes import tail
from local.stack import LocalStack
from local.stack.served_stack import ServedStack

if TYPE_CHECKING:
    from local.gateway.tokens import Tokens

_LIFETIME_S = 12 * 3600


class OwnTokens:
    """Tokens that this machine signs, for a user of a tenant with every right."""

    def __init__(self, tokens: Tokens, wish: MachineWish) -> None:
        self._tokens, self._wish = tokens, wish
        self._token = ""

    def get_token(self) -> str:
        """Return the token."""
        return self._token or self.renew_token("")

    def renew_token(self, refused: str) -> str:
        """Return a token that was signed now."""
        self._token = self._tokens.issue(self._wish.tenant, self._wish.user, _LIFETIME_S, name=self._wish.user)
        return self._token


def describe_machine(stack: LocalStack | ServedStack, wish: MachineWish) -> RunningMachine:
    """Return a stack, which runs, as the command uses it; resume undos that were interrupted."""

    def list_failures() -> list[str]:
        return [str(failure) for failure in stack.failures()]

    def check() -> None:
        try:
            if isinstance(stack, ServedStack):
                stack.check_alive()
            else:
                stack.event_sources.activity.check_alive()
            _check_functions(stack.failures())
            for folder in (stack.state_dir, temporary_folder()):
                check_disk_space(folder)
        except DiskFullError as exc:
            print(f"Stopping: {exc}", file=sys.stderr)
            raise CommandError(str(exc)) from exc
        except LocalError as exc:
            raise CommandError(str(exc)) from exc

    if isinstance(stack, ServedStack):
        text = f"Using the stack of `serve` (process {stack.address.pid}) ..."
        return RunningMachine(stack.api_url, OwnTokens(stack.tokens, wish), text, True, list_failures, check)
    _resume_undos(stack)
    text = "Started the database, S3, SQS, SNS and the functions on this machine."
    return RunningMachine(stack.api_url, OwnTokens(stack.tokens, wish), text, False, list_failures, check)


def _check_functions(failures: Iterable[InvocationFailedError]) -> None:
    """Raise LocalError, with the end of its log, for a function that cannot start: no repetition helps."""
    for failure in failures:
        if isinstance(failure, FunctionStartError):
            log = f"{failure.log} ends with:\n{tail(failure.log)}"
            raise LocalError(f"a function of the stack cannot start: {failure.message}. {log}")


def _resume_undos(stack: LocalStack) -> None:
    """Resume the undos of commands that were interrupted; the stack of `serve` has done so."""
    from local.command.resuming import describe_resumed, resume_undos
    from local.command.unfinished import list_open_undos

    for undo in resume_undos(stack, list_open_undos(stack.database_url)):
        print(describe_resumed(undo), file=sys.stderr)
