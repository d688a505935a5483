"""What the client needs of a sign-in."""

from __future__ import annotations

from typing import Protocol


class TokenProvider(Protocol):
    """Gives the token that requests carry. Threads share one."""

    def get_token(self) -> str:
        """Return a token that has not ended; raise CommandError if there is none."""

    def renew_token(self, refused: str) -> str:
        """Return a token other than the one that the API has refused; raise CommandError if there is none."""
