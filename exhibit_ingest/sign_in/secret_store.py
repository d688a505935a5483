"""Where refresh tokens are kept: in the keyring of the operating system, else in a file that only the user reads.

Guaranteed: what `save` returned without an error can be loaded, and after `delete` without an error neither place has
it. A keyring that does not answer within a minute counts as one that fails: it may wait for a window that no user sees.
A token is stored by the name of its stack.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar, cast

from exhibit_ingest.errors import CommandError
from exhibit_ingest.file_lock import hold_lock
from exhibit_ingest.private_file import write_private_file
from exhibit_ingest.program import PROGRAM

T = TypeVar("T")
_FILE_NAME = "sign-ins.json"
# Windows keeps at most 2,560 bytes in an entry, two for each character; a refresh token of Cognito is longer.
_PART = 1200 if os.name == "nt" else 100_000
_MOST_PARTS = 100
# A user has to find the password of the keyring; another command has to renew its token.
_ANSWER_S, _LOCK_S, _TICK_S = 60.0, 90.0, 0.2


class Keyring(Protocol):
    """What is used of the package `keyring`."""

    def get_password(self, service: str, user: str, /) -> str | None:
        """Return an entry, None if there is none."""

    def set_password(self, service: str, user: str, password: str, /) -> None:
        """Write an entry."""

    def delete_password(self, service: str, user: str, /) -> None:
        """Delete an entry."""


class SecretStore:
    """The refresh tokens by name; `folder` is for the file. `keyring` is the package of that name."""

    def __init__(
        self, folder: Path, keyring: Keyring | None = None, part: int = _PART, answer_s: float = _ANSWER_S
    ) -> None:
        self.path = folder / _FILE_NAME
        self._keyring = keyring
        self._part, self._answer_s = part, answer_s

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Have other commands wait, for the block, before they change a secret. Raises LockTakenError."""
        with contextlib.ExitStack() as held:
            # Where no file can be written, there is a keyring.
            with contextlib.suppress(OSError):
                held.enter_context(hold_lock(self.path.with_suffix(".lock"), _LOCK_S))
            yield

    def save(self, name: str, secret: str) -> str:
        """Keep a secret in place of an earlier one, and return where, in words. Raises CommandError."""
        kept = {each: other for each, other in self._read_file().items() if each != name}
        if self._is_in_keyring_after_write(name, secret):
            if self.path.exists():
                self._write_file(kept)
            return "in the keyring of this machine"
        self._write_file({**kept, name: secret})
        return f"in {self.path}, which only you can read"

    def load(self, name: str) -> str | None:
        """Return the secret, None if there is none. Raises CommandError if its place does not answer."""
        if (secret := self._read_file().get(name)) is not None:
            return secret
        try:
            return self._within(lambda: self._read_keyring(name))
        except Exception as exc:
            raise _explain(exc) from exc

    def delete(self, name: str) -> None:
        """Delete a secret, if there is one. Raises CommandError if its place does not answer."""
        kept = self._read_file()
        is_in_file = kept.pop(name, None) is not None
        if is_in_file:
            self._write_file(kept)
        try:
            self._within(lambda: self._delete_keyring(name))
        except Exception as exc:
            # A secret is in the file because the keyring failed before.
            if not is_in_file:
                raise _explain(exc) from exc

    def _is_in_keyring_after_write(self, name: str, secret: str) -> bool:
        # A keyring may be missing, locked, or accept everything and keep nothing; each has errors of its own.
        with contextlib.suppress(Exception):
            if self._within(lambda: self._is_kept(name, secret)):
                return True
            self._within(lambda: self._delete_keyring(name, len(secret) // self._part))
        return False

    def _is_kept(self, name: str, secret: str) -> bool:
        with contextlib.suppress(Exception):
            self._write_keyring(name, secret)
        return self._read_keyring(name) == secret

    def _within(self, use: Callable[[], T]) -> T:
        """Return what a use of the keyring returns or raises; raise TimeoutError after a minute."""
        done: list[Callable[[], T]] = []

        def run() -> None:
            try:
                found = use()
                done.append(lambda: found)
            except BaseException as exc:
                done.append(functools.partial(_raise, exc))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        ends = time.monotonic() + self._answer_s
        while thread.is_alive() and time.monotonic() < ends:
            # In short waits: Windows does not interrupt a long one by Ctrl-C.
            thread.join(min(self._answer_s, _TICK_S))
        if not done:
            raise TimeoutError
        return done[0]()

    def _open(self) -> Keyring:
        # The package takes a tenth of a second, and can be missing.
        self._keyring = self._keyring or cast(Keyring, importlib.import_module("keyring"))
        return self._keyring

    def _write_keyring(self, name: str, secret: str) -> None:
        self._delete_keyring(name)
        parts = [secret[start : start + self._part] for start in range(0, len(secret), self._part)]
        for number, part in reversed(list(enumerate(parts))):
            # The first entry is written last: it says how many there are.
            self._open().set_password(PROGRAM, _entry(name, number), part if number else f"{len(parts)}:{part}")

    def _read_keyring(self, name: str) -> str | None:
        first = self._open().get_password(PROGRAM, _entry(name, 0))
        count, _, secret = (first or "").partition(":")
        if not count.isdecimal() or int(count) > _MOST_PARTS:
            return None
        rest = [self._open().get_password(PROGRAM, _entry(name, number)) for number in range(1, int(count))]
        return None if None in rest else secret + "".join(map(str, rest))

    def _delete_keyring(self, name: str, last: int = 0) -> None:
        """Delete all parts; the first ones up to `last` can be missing, as where writing one of them failed."""
        for number in range(_MOST_PARTS):
            if self._open().get_password(PROGRAM, _entry(name, number)) is not None:
                self._open().delete_password(PROGRAM, _entry(name, number))
            elif number >= last:
                return

    def _read_file(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): str(secret) for name, secret in found.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as exc:
            raise CommandError(f"{self.path} cannot be read ({_name(exc)}). Delete it, then sign in again.") from exc

    def _write_file(self, secrets: dict[str, str]) -> None:
        try:
            write_private_file(self.path, json.dumps(secrets))
        except OSError as exc:
            raise CommandError(f"{self.path} cannot be written: {exc.strerror}. Make it writable.") from exc


def _explain(error: Exception) -> CommandError:
    return CommandError(f"The keyring does not answer ({type(error).__name__}). Unlock it, or sign in again.")


def _name(error: Exception) -> str:
    """Return what happened, without the content of the file, which has tokens."""
    return error.strerror or "error" if isinstance(error, OSError) else "it is damaged"


def _raise(error: BaseException) -> NoReturn:
    raise error


def _entry(name: str, number: int) -> str:
    return f"{name} {number + 1}" if number else name
