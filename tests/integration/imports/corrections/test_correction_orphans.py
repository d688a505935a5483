"""Objects of requests that died are deleted after a while, and objects of imports never."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.imports.uploads import build_correction_key
from shell.aws import clients
from shell.imports.corrections.orphans import delete_orphans
from tests.integration.imports.corrections.test_correction_claims import build_file
from tests.support.application.driver import World
from tests.support.imports.corrected_rows import correct, set_cell


def test_only_old_objects_that_no_import_names_are_deleted_and_their_versions_stay(world: World) -> None:
    import_id = world.run(build_file(2))
    correction = correct(world, import_id, {3: set_cell(0, "B-3")})
    today = datetime.now(UTC).date()
    keys = {age: build_correction_key("tenant", today - timedelta(days=age), "dead") for age in (0, 1, 2, 8, 9)}
    named = build_correction_key("tenant", today - timedelta(days=3), "named")
    for key in (*keys.values(), named):
        clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"{}")
    world.query("UPDATE imports SET object_key = :key WHERE id = :i", key=named, i=correction)
    assert delete_orphans() == 2
    listed = clients.s3().list_objects_v2(Bucket=world.bucket, Prefix="corrections/")["Contents"]
    left = {each["Key"] for each in listed}
    assert {named, keys[0], keys[1], keys[9]} <= left
    assert not {keys[2], keys[8]} & left
    versions = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=keys[2])
    assert [each["Key"] for each in versions["Versions"]] == [keys[2]]
    assert delete_orphans() == 0
