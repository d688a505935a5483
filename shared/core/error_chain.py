"""Walk from an error to those that caused it."""

from __future__ import annotations

from collections.abc import Iterator


def walk_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and every error that it was raised from or during, each once."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        pending += [getattr(current, "orig", None), current.__cause__, current.__context__]
