"""A purge destroys all of a case and nothing of another one, and its certificate says how much that was."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import LargeBinary, String, cast, func, select

from core.purges.certificate import Certificate
from shell.aws import clients
from shell.purges.plan import KEPT, WITHOUT_CASES, list_purged
from shell.tables import metadata
from tests.support.application.captured_log import Log
from tests.support.application.driver import World
from tests.support.database.application_user import administrator_engine
from tests.support.purges.filled_cases import FilledCase, fill_case
from tests.support.purges.runs import purge


def count_rows() -> Counter[str]:
    """The rows of each table."""
    with administrator_engine().begin() as reading:
        tables = metadata().tables.values()
        return Counter(
            {each.name: reading.execute(select(func.count()).select_from(each)).scalar_one() for each in tables}
        )


def find_in_rows(word: str) -> set[str]:
    """The columns in which a word is, of whatever type."""
    found = set()
    with administrator_engine().begin() as reading:
        for table in metadata().tables.values():
            for column in table.columns:
                if isinstance(column.type, (String, LargeBinary)):
                    has = func.locate(word.encode(), cast(column, LargeBinary)) > 0
                    if reading.execute(select(func.count()).where(has)).scalar_one():
                        found.add(f"{table.name}.{column.name}")
    return found


def list_keys(world: World) -> list[str]:
    """The keys of all versions, markers and uploads in parts."""
    s3 = clients.s3()
    keys: list[str] = []
    pages: Any = s3.get_paginator("list_object_versions").paginate(Bucket=world.bucket)
    for page in pages:
        keys += [each["Key"] for kind in ("Versions", "DeleteMarkers") for each in page.get(kind, [])]
    uploads = s3.list_multipart_uploads(Bucket=world.bucket).get("Uploads", [])
    return sorted([*keys, *(each["Key"] for each in uploads)])


def counted(certificate: Certificate) -> tuple[Counter[str], Counter[tuple[str, str]], Counter[str]]:
    """What a certificate counts: rows, objects and bytes."""
    objects: Counter[tuple[str, str]] = Counter()
    for each in certificate.objects:
        objects[each.kind, "version"] += each.versions
        objects[each.kind, "marker"] += each.delete_markers
        objects[each.kind, "upload"] += each.multipart_uploads
    rows = Counter({each.table: each.rows for each in certificate.rows})
    return rows, objects, Counter({each.kind: each.bytes for each in certificate.objects})


def matches(certificate: Certificate, case: FilledCase) -> bool:
    """Whether the certificate has the counts that were made before the purge."""
    return counted(certificate) == (case.rows, case.objects, case.sizes)


def test_every_table_is_purged_or_kept_or_without_data_of_cases() -> None:
    purged, kept = set(list_purged()), set(KEPT)
    assert purged | kept | WITHOUT_CASES == {*metadata().tables, "alembic_version"}
    assert not purged & kept
    assert not (purged | kept) & WITHOUT_CASES


def test_a_purge_leaves_nothing_and_touches_no_other_case(world: World) -> None:
    case, other = fill_case(world, 1), fill_case(world, 2)
    before, keys = count_rows(), list_keys(world)
    certificate = purge(world, 1)
    assert matches(certificate, case)
    after = before - case.rows
    assert {name: count_rows()[name] for name in set(list_purged())} == {
        name: after[name] for name in set(list_purged())
    }
    assert list_keys(world) == [key for key in keys if key in other.keys]
    assert count_rows()["case_purge_counts"] == count_rows()["case_purge_prefixes"] == 0
    assert count_rows()["case_purge_objects"] == 0


def test_no_free_text_of_the_case_is_in_any_row_object_or_log_line(world: World, log: Log) -> None:
    case, other = fill_case(world, 1), fill_case(world, 2)
    assert len(find_in_rows(case.canary)) > 60
    purge(world, 1)
    assert find_in_rows(case.canary) == set()
    assert not any(case.canary in key for key in list_keys(world))
    assert "case purged" in log.messages()
    assert case.canary not in log.stream.getvalue()
    assert len(find_in_rows(other.canary)) > 60
