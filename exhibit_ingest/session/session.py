"""One stack for the time of a command, with the user who is signed in, or with that of this machine."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.session.arguments import OWN_TENANT
from exhibit_ingest.session.machine import Machine, MachineWish, RunningMachine, find_machine
from exhibit_ingest.sign_in.surroundings import Surroundings
from exhibit_ingest.stacks.choice import OWN_STACK, choose_stack, is_stack_chosen

# httpx takes a tenth of a second, and wrong usage needs none.
if TYPE_CHECKING:
    import httpx

    from exhibit_ingest.client.api import Api

# A stack of this machine answers at once or has ended.
_OWN_PATIENCE_S = 2
# Its database does not pause.
_OWN_SERVER_PATIENCE_S = 20


@dataclass(frozen=True)
class Session:
    """A stack that answered, and understands this command.

    `stack` is its name, for messages and for the journal of uploads. `me` is the response to GET /me. `folder` has the
    reports and journals of the command; only the user can read it. `storage` sends to and gets from presigned URLs, and
    has no token. `machine` is None for a stack elsewhere. `stack_options` choose the stack in another
    command, where its name does not.
    """

    api: Api
    stack: str
    me: dict[str, Any]
    folder: Path
    machine: RunningMachine | None = None
    stack_options: tuple[str, ...] = ()

    @cached_property
    def storage(self) -> httpx.Client:
        """The client for presigned URLs."""
        from exhibit_ingest.client.api import build_storage_http

        return build_storage_http(self.api.url)

    def close(self) -> None:
        """Close the connections to the storage."""
        if "storage" in self.__dict__:
            self.storage.close()

    def name_options(self) -> list[str]:
        """Return the options with which another command uses this stack and tenant, for commands in messages."""
        tenant = str(self.me["tenantId"])
        named = [] if self.machine is None or tenant == OWN_TENANT else ["--tenant", tenant]
        chosen = self.stack_options or (() if self.machine else ("--stack", self.stack))
        return [*chosen, *named]


@dataclass(frozen=True)
class Context:
    """What commands run in: the machine's surroundings, and its own stack unless the command has to find it."""

    around: Surroundings = field(default_factory=Surroundings)
    own: Machine | None = None

    @contextlib.contextmanager
    def open(
        self,
        options: argparse.Namespace,
        *,
        workers: int | None = None,
        may_be_new: bool = False,
        ended: str = MachineWish.ended,
        is_quiet: bool = False,
        modules: Sequence[str] = (),
    ) -> Iterator[Session]:
        """Open the chosen stack for the block, or that of this machine, as `MachineWish` says. Raises CommandError.

        `options` are those of `add_session_arguments`, and `json`, with which the name of the stack is not printed.
        """
        is_quiet = is_quiet or bool(getattr(options, "json", False))
        if self._is_elsewhere(options):
            with self._open_remote(options, is_quiet=is_quiet) as session:
                yield session
            return
        machine = self.own or find_machine()
        tenant, user = (getattr(options, name, None) for name in ("tenant", "user"))
        needed = ("exhibit_ingest.client.api", *modules)
        wish = MachineWish(tenant or OWN_TENANT, user or _login_name(), workers, may_be_new, ended, needed)
        chosen = ("--stack", OWN_STACK) if options.stack else ()
        with machine.run(wish) as running, _open_own(running, machine.folder, chosen) as session:
            yield session

    def _is_elsewhere(self, options: argparse.Namespace) -> bool:
        """Return whether a stack is chosen; one that is handed over counts before the default, but not before these."""
        if self.own:
            return options.stack not in (None, OWN_STACK)
        return is_stack_chosen(self.around.load(), options.stack, self.around.environment)

    @contextlib.contextmanager
    def _open_remote(self, options: argparse.Namespace, *, is_quiet: bool) -> Iterator[Session]:
        from exhibit_ingest.client.api import Api
        from exhibit_ingest.client.versions import read_me
        from exhibit_ingest.sign_in.providers import open_provider

        for name in ("tenant", "user"):
            if getattr(options, name, None):
                raise WrongUsageError(
                    f"--{name} is for the stack of this machine; your sign-in says who you are. Omit it."
                )
        known = self.around.load()
        stack = choose_stack(known, options.stack, self.around.environment)
        with Api(
            stack.url, open_provider(stack, self.around.environment, self.around.store), say=self.around.say
        ) as api:
            me = read_me(api)
            if not is_quiet:
                self.around.say(f"Stack: {stack.name} ({stack.url})")
            chosen = ("--stack", stack.name if stack.name in known.stacks else stack.url)
            with contextlib.closing(Session(api, stack.name, me, self.around.folder, stack_options=chosen)) as session:
                yield session


@contextlib.contextmanager
def _open_own(running: RunningMachine, folder: Path, chosen: tuple[str, ...]) -> Iterator[Session]:
    from exhibit_ingest.client.api import Api
    from exhibit_ingest.client.versions import read_me
    from exhibit_ingest.client.waiting import Patience

    def sleep(seconds: float) -> None:
        # Where its database has ended, no repetition helps.
        running.check()
        time.sleep(seconds)

    patience = Patience(network_s=_OWN_PATIENCE_S, server_s=_OWN_SERVER_PATIENCE_S, sleep=sleep)
    with (
        Api(running.url, running.tokens, patience=patience) as api,
        contextlib.closing(Session(api, "this machine", read_me(api), folder, running, chosen)) as session,
    ):
        yield session


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "exhibit-ingest"
