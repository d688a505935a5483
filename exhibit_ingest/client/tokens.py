"""What the client needs of a sign-in."""

from __future__ import annotations

import re
from typing import Protocol

from exhibit_ingest.errors import CommandError

# Of RFC 6750, section 2.1. A header with anything else would be refused with the token in the message.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_LONGEST = 16_384


class TokenProvider(Protocol):
    """Gives the token that requests carry. Threads share one."""

    def get_token(self) -> str:
        """Return a token that has not ended; raise CommandError if there is none."""

    def renew_token(self, refused: str) -> str:
        """Return a token other than the one that the API has refused; raise CommandError if there is none."""


def check_token(token: object, source: str) -> str:
    """Return a token that a request can carry; raise CommandError, without the token, for anything else."""
    if isinstance(token, str) and len(token) <= _LONGEST and _TOKEN.fullmatch(token):
        return token
    raise CommandError(
        f"{source} has no token: one line of letters, digits and the characters . _ ~ + / - and = without spaces."
    )
