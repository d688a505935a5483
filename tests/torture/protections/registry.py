"""The protections of the application that a test build can be without, each by its name.

Guarantees that only processes that turn one off are without it: the product knows nothing of this. A switch disables a
mechanism as a whole; where another one would save what is lost, that is off too, and the switch says so.
"""

from __future__ import annotations

from dataclasses import replace

from tests.torture.protections.cases import OF_CASES
from tests.torture.protections.checks import OF_CHECKS
from tests.torture.protections.corrections import OF_CORRECTIONS
from tests.torture.protections.held import OF_HELD
from tests.torture.protections.imports import OF_IMPORTS
from tests.torture.protections.outbox import OF_THE_OUTBOX
from tests.torture.protections.overlays import OF_OVERLAYS
from tests.torture.protections.productions import OF_PRODUCTIONS
from tests.torture.protections.requests import OF_REQUESTS
from tests.torture.protections.switch import Switch
from tests.torture.protections.twins import OF_TWINS
from tests.torture.protections.volumes import OF_VOLUMES


def _among(switches: dict[str, Switch], *clients: str) -> dict[str, Switch]:
    """Each with these clients at work."""
    return {name: replace(switch, clients=frozenset(clients)) for name, switch in switches.items()}


SWITCHES: dict[str, Switch] = {
    **_among(OF_IMPORTS, "files", "base", "contention"),
    **_among(OF_TWINS, "repeats"),
    **_among(OF_CHECKS, "files", "profiles"),
    **_among(OF_CORRECTIONS, "corrections"),
    **_among(OF_HELD, "held"),
    **_among(OF_OVERLAYS, "overlays"),
    **_among(OF_VOLUMES, "volumes"),
    **_among(OF_REQUESTS, "files", "base", "custody", "contention", "overlays"),
    **_among(OF_THE_OUTBOX, "files", "base"),
    **_among(OF_PRODUCTIONS, "base"),
    **_among(OF_CASES, "cases", "base"),
}


def turn_off(name: str) -> None:
    """Make this process one without that protection; raises KeyError for a name that there is not."""
    SWITCHES[name].off()


def described() -> str:
    """Every protection on a line, with what is not done without it."""
    width = max(map(len, SWITCHES))
    return "\n".join(f"  {name:{width}}  {switch.what}" for name, switch in sorted(SWITCHES.items()))
