"""A keyring in memory, and keyrings that fail."""

from __future__ import annotations


class FakeKeyring:
    """Keeps entries of at most `longest` characters; `is_forgetful` accepts everything and keeps nothing."""

    def __init__(self, longest: int = 100_000, *, is_forgetful: bool = False) -> None:
        self.longest, self.is_forgetful, self.is_locked = longest, is_forgetful, False
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, user: str) -> str | None:
        """Return an entry."""
        self._check()
        return self.entries.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        """Write an entry, unless it is too long."""
        self._check()
        if len(password) > self.longest:
            raise OSError(1783, "CredWrite", "The stub received bad data")
        if not self.is_forgetful:
            self.entries[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        """Delete an entry, which must exist."""
        self._check()
        del self.entries[service, user]

    def _check(self) -> None:
        if self.is_locked:
            raise RuntimeError("locked")
