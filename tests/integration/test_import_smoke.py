"""A file goes in; its rows come out."""

from __future__ import annotations

from samples.generator import generate
from samples.spec import Spec
from tests.support.world import World


def test_a_clean_file_is_imported_whole(world: World) -> None:
    made = generate(Spec(rows=30, seed=1))
    import_id = world.run(made.data, **(made.options or {}))
    dump = world.dump(import_id)
    assert dump["imports"][0][:3] == ("completed", made.truth.rows_seen, made.truth.rows_seen)
