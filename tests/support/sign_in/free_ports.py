"""Ports of this machine that no program listens on."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def find_free_ports(count: int) -> tuple[int, ...]:
    """Return ports that were free a moment ago."""
    with ExitStack() as sockets:
        bound = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in bound)
