"""What the commands use of the machine: folder, variables, terminal, browser."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.stacks.configuration import (
    Configuration,
    change_configuration,
    find_folder,
    load_configuration,
    save_configuration,
)

# Of this machine, where the browser comes back to: `CallbackURLs` in template.yaml has them.
PORTS = (8976, 8977, 8978)


@dataclass(frozen=True)
class Clock:
    """The time and how to wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def _open_page(url: str) -> None:
    # Most commands open no page.
    import webbrowser

    webbrowser.open(url)


def _print_to_people(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _read_line() -> str:
    return sys.stdin.readline()


@dataclass(frozen=True)
class Surroundings:
    """What a command uses; the defaults are the machine's."""

    folder: Path = field(default_factory=find_folder)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    secrets: SecretStore | None = None
    say: Callable[[str], None] = _print_to_people
    read: Callable[[], str] = _read_line
    open_page: Callable[[str], object] = _open_page
    ports: tuple[int, ...] = PORTS
    clock: Clock = field(default_factory=Clock)

    @property
    def store(self) -> SecretStore:
        """The store of refresh tokens."""
        return self.secrets or SecretStore(self.folder)

    def load(self) -> Configuration:
        """Return the configuration. Raises WrongUsageError."""
        return load_configuration(self.folder)

    def change(self, change: Callable[[Configuration], Configuration]) -> Configuration:
        """Write what `change` makes of the configuration, and return it. Raises WrongUsageError, LockTakenError."""
        return change_configuration(self.folder, change)

    def save(self, configuration: Configuration) -> None:
        """Write the configuration. Raises WrongUsageError."""
        save_configuration(self.folder, configuration)
