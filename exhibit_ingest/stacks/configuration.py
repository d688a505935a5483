"""The file of the stacks: `stacks.json` in the folder of the user's configuration. It has no token.

Guaranteed: the file is replaced as a whole, and of two commands that change it at the same time by
`change_configuration`, neither overwrites what the other changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.file_lock import hold_lock
from exhibit_ingest.private_file import write_private_file
from exhibit_ingest.program import PROGRAM

_FILE, _LOCK, _PATIENCE_S = "stacks.json", "stacks.lock", 10.0


@dataclass(frozen=True)
class Stack:
    """A stack by its name.

    `sign_in` is what the sign-in found out, such as the endpoints of the issuer; `is_signed_in` until a logout;
    `token_command` prints a token.
    """

    name: str
    url: str
    sign_in: Mapping[str, Any] = field(default_factory=dict)
    is_signed_in: bool = False
    token_command: str = ""

    @property
    def secret_name(self) -> str:
        """What its refresh token is kept under: two stacks of one address can have two users."""
        return f"{self.name} {self.url}"


@dataclass(frozen=True)
class Configuration:
    """The stacks by name, and the name of the one that is used without a choice."""

    stacks: Mapping[str, Stack]
    default: str | None = None

    def add(self, stack: Stack) -> Configuration:
        """Return the configuration with the stack, in place of one with its name; the first one is the default."""
        return Configuration({**self.stacks, stack.name: stack}, self.default or stack.name)

    def remove(self, name: str) -> Configuration:
        """Return the configuration without the stack; without the default, there is none until one is chosen."""
        kept = {each: stack for each, stack in self.stacks.items() if each != name}
        return Configuration(kept, self.default if self.default in kept else None)

    def choose_default(self, name: str) -> Configuration:
        """Return the configuration with another default."""
        return replace(self, default=name)


def find_folder() -> Path:
    """Return the folder of the user's configuration, which need not exist."""
    import platformdirs

    return platformdirs.user_config_path(PROGRAM, appauthor=False)


def load_configuration(folder: Path) -> Configuration:
    """Return the configuration, empty if there is none; raise WrongUsageError for a file that cannot be read."""
    path = folder / _FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        stacks = {name: Stack(name=name, **values) for name, values in document["stacks"].items()}
        return Configuration(stacks, document["default"])
    except FileNotFoundError:
        return Configuration({})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise WrongUsageError(f"{path} cannot be read ({exc}). Delete it, then sign in again.") from exc


def change_configuration(folder: Path, change: Callable[[Configuration], Configuration]) -> Configuration:
    """Read the configuration, write what `change` makes of it, and return that; other commands wait meanwhile.

    Raises WrongUsageError for a file that cannot be read or written, LockTakenError, and what `change` raises.
    """
    with ExitStack() as held:
        # Where no file can be written, saving says so.
        with suppress(OSError):
            held.enter_context(hold_lock(folder / _LOCK, _PATIENCE_S))
        configuration = change(load_configuration(folder))
        save_configuration(folder, configuration)
    return configuration


def save_configuration(folder: Path, configuration: Configuration) -> None:
    """Write the configuration in place of the earlier one; raise WrongUsageError if the folder cannot be written."""
    stacks = {name: {**asdict(stack)} for name, stack in configuration.stacks.items()}
    for values in stacks.values():
        del values["name"]
    text = json.dumps({"default": configuration.default, "stacks": stacks}, ensure_ascii=False, indent=2)
    try:
        write_private_file(folder / _FILE, f"{text}\n")
    except OSError as exc:
        raise WrongUsageError(f"{folder / _FILE} cannot be written: {exc.strerror}. Make it writable.") from exc
