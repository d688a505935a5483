"""An export of histories holds their versions as they are stored, not the rows that are made of them."""

from __future__ import annotations

import tracemalloc
from collections import deque

from core.exhibit_history import Change, Key, Kind, encode_changes
from shell.db.session import session
from shell.exhibits.match_keys import MatchKey
from shell.exports.numbered_rows import read_history
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits

VERSIONS, VALUES = 40, 500
CHANGES = encode_changes({Key(Kind.PROPERTY, f"Property {n}"): Change(None, f"Value {n}") for n in range(VALUES)})


def test_memory_does_not_grow_with_the_values_of_a_run(world: World) -> None:
    """Its 20,000 rows would need 15 MB at once, and 2,000 versions 750 MB; those of one version need 0.4 MB."""
    [exhibit] = put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A-1"])
    for version in range(2, VERSIONS + 2):
        world.query(
            "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) "
            "VALUES (:exhibit, :version, 'edited', 'ada', :changes)",
            exhibit=exhibit,
            version=version,
            changes=CHANGES,
        )
    world.query("UPDATE exhibits SET version = :last", last=VERSIONS + 1)
    with session() as reading:
        tracemalloc.start()
        try:
            [(_, rows)] = read_history(reading, [MatchKey(exhibit, "A-1")])
            counted = deque(enumerate(rows, 1), maxlen=1)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert counted.pop()[0] == 1 + VERSIONS * VALUES
    assert peak < 5_000_000, f"{peak:,} bytes"
