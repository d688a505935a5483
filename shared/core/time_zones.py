"""Find time zones by their IANA names.

Guaranteed: a zone is that of the pinned package `tzdata`, whatever time zones the machine has. Lambda's system may have
none, and the dates of a file must not depend on where it is read.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module, resources
from zoneinfo import ZoneInfo

_MAX_SUGGESTIONS = 3
# The zone of a machine without a configuration of its own.
_UNSET = "Factory"


@cache
def list_zones() -> frozenset[str]:
    """Return the names of all zones."""
    names = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return frozenset(names) - {_UNSET}


def suggest_zones(name: str) -> list[str]:
    """Return the names of zones that resemble a name that is not one: by its last part, without case."""
    by_end: dict[str, list[str]] = {}
    for zone in sorted(list_zones()):
        by_end.setdefault(zone.rpartition("/")[2].casefold(), []).append(zone)
    end = name.strip().replace(" ", "_").rpartition("/")[2].casefold()
    similar = get_close_matches(end, by_end, n=_MAX_SUGGESTIONS)
    return [zone for found in similar for zone in by_end[found]][:_MAX_SUGGESTIONS]


@cache
def load_zone(name: str) -> ZoneInfo:
    """Return the zone with one of the names of `list_zones`. Raises KeyError for another name."""
    # Also keeps a path such as ../../etc from being opened.
    if name not in list_zones():
        raise KeyError(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def get_database_version() -> str:
    """Return the version of the time zone database, such as 2026a."""
    return str(import_module("tzdata").IANA_VERSION)
