"""The stack of this machine, as the command needs it: the package `local`, where it is installed, runs one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from exhibit_ingest.client.tokens import TokenProvider
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.program import format_command

# Commands of that package, which are there only with it.
LOCAL_COMMANDS = ("database-url", "serve", "token", "stop", "reset", "backup", "restore")
_PACKAGE = "local.command"


@dataclass(frozen=True)
class RunningMachine:
    """A stack that runs on this machine; `description` says so to people.

    `is_kept` says that it outlives the command, because `serve` runs it.
    """

    url: str
    tokens: TokenProvider
    description: str
    is_kept: bool
    # Sentences about invocations of functions that failed, since the command began.
    list_failures: Callable[[], list[str]]
    # Raises CommandError if the stack has ended, or a disk is full.
    check: Callable[[], None]


@dataclass(frozen=True)
class MachineWish:
    """How a command wants the stack of this machine.

    `workers` are processes per function, None for the default. Without `may_be_new`, a command fails where nothing was
    ever imported. `ended` says what to do if `serve` ends meanwhile, after its name. `modules` are what the command
    imports while the stack starts.
    """

    tenant: str
    user: str
    workers: int | None = None
    may_be_new: bool = False
    ended: str = "ended meanwhile. Start it, or run this command without it"
    modules: Sequence[str] = ()


class Machine(Protocol):
    """The stack of this machine, which may run already."""

    @property
    def folder(self) -> Path:
        """Return the folder of its files."""

    def run(self, wish: MachineWish) -> AbstractContextManager[RunningMachine]:
        """Run the stack for the block, or use the one that runs. Raises CommandError."""


def find_machine() -> Machine:
    """Return the stack of this machine; raise WrongUsageError where the command is installed without one."""
    if not has_machine():
        raise WrongUsageError(
            f"No stack is chosen. Sign in to one: {format_command('login', 'URL')}. Its operator has the URL. This"
            " command is installed without a stack of its own: for one on this machine, clone the repository of"
            " exhibit-ingest and run `make setup` there."
        )
    return cast(Machine, import_module(f"{_PACKAGE}.workspace").find_workspace())


def has_machine() -> bool:
    """Return whether the command is installed with the stack of one machine."""
    try:
        return find_spec(_PACKAGE) is not None
    except ModuleNotFoundError:
        return False
