"""The signals that end a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Windows has no SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interrupted(KeyboardInterrupt):
    """A signal that ends the command, raised so that every context manager closes what it opened.

    Its notes say what was done about the command's imports. Libraries treat it as they treat Ctrl-C.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


@contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Raise Interrupted at the first signal in the block; later signals are ignored while the command shuts down.

    A signal that the caller ignores, as nohup does, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {each: signal.signal(each, interrupt) for each in _SIGNALS if signal.getsignal(each) != signal.SIG_IGN}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
