"""How a protection is turned off: names of the product's modules get other values, in this process and for good.

Guarantees that what is replaced was there: a switch for something that the product has no longer fails when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sqlalchemy import text

from tests.torture.findings import KINDS, UNFINISHED, WRONG
from tests.torture.plans.seed import CLIENTS

# What no caller may find in the data, or receive too early; work without an end or a wrong answer is not a loss.
OF_DATA = frozenset(KINDS) - {UNFINISHED, WRONG}
OR_NO_END = OF_DATA | {UNFINISHED}

# What was replaced in this process, for those who ask whether a switch does anything.
replaced: list[str] = []


def _nothing() -> None:
    """Where the schema alone is weaker."""


@dataclass(frozen=True)
class Switch:
    """A protection: what is not done without it, the modules that it rests on, and how it is turned off.

    `keys` are unique keys, as table.key, that lose their uniqueness; with `short_leases` the owner of an
    Idempotency-Key is outrun more often. `why` says what else is off, because it would save what is lost. `shows_as`
    are the kinds of violations that it is there to prevent: what has nothing to do with it does not prove it. `clients`
    are those of a seed whose work it protects: without the others it is found in a third of the time.
    """

    what: str
    rests_on: str
    off: Callable[[], None] = _nothing
    keys: tuple[str, ...] = ()
    short_leases: bool = False
    why: str = ""
    shows_as: frozenset[str] = OF_DATA
    clients: frozenset[str] = CLIENTS

    @property
    def description(self) -> str:
        """What is not done without it, and what else is off."""
        return f"{self.what}; off too: {self.why}" if self.why else self.what


def there(place: str) -> Any:
    """What is at `module:name` or `module:name.attribute` now."""
    module, _, names = place.partition(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def swap(place: str, made: Callable[[Any], Any]) -> None:
    """Put what is `made` of that which is there in its place; raises AttributeError where nothing is."""
    now = there(place)
    module, _, names = place.partition(":")
    owner, _, name = names.rpartition(".")
    setattr(there(f"{module}:{owner}") if owner else import_module(module), name, made(now))
    replaced.append(place)


def instead(place: str, new: Any) -> None:
    """Put something else there, whatever it was."""
    swap(place, lambda _: new)


def reword(place: str, old: str, new: str) -> None:
    """Change words of a statement; raises ValueError where it lacks them."""

    def reworded(statement: Any) -> Any:
        if old not in statement.text:
            raise ValueError(f"{place} has no {old!r}")
        return text(statement.text.replace(old, new))

    swap(place, reworded)


def take_any(place: str) -> None:
    """Let every worker take the units of the kind that is there, done or not and whoever holds them."""
    kind = there(place)
    instead(f"{place}.lock", lambda transaction, *unit: transaction.execute(kind.read, kind.name(unit)).one())
    instead(f"{place}.find_end", lambda *_: None)
