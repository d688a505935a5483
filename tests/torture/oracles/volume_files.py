"""Whether each volume has the files that were sent, each as one version of one object with its bytes, and no other.

The truth is what was sent; nothing of the application is imported here.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding, compare
from tests.torture.models.stored_volumes import SentVolume
from tests.torture.plans.volumes import IGNORED

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_TABLES = ("volume_files", "volume_units", "volume_uploads")


def judge_files(ledger: Ledger, at: Queried, s3: S3Client, bucket: str) -> Iterator[Finding]:
    """All volumes of the seed: their rows, their files and their objects."""
    sent = {each.volume_id: each for course in ledger.volumes.values() for each in course.sent}
    rows = {row.id: row for row in at.query("SELECT * FROM volumes WHERE tenant_id = :tenant", tenant=ledger.tenant)}
    created = sent.keys() | ({each.volume_id for each in ledger.corrections.values()} - {0})
    if rows.keys() != created:
        yield Finding(DOUBLED, f"volumes {sorted(rows)} are there, and {sorted(created)} were created")
    for volume_id in rows.keys() & sent.keys():
        row, volume = rows[volume_id], sent[volume_id]
        versions = _list_versions(s3, bucket, row.prefix)
        if volume.is_deleted:
            archive = _list_versions(s3, bucket, row.archive_key) if row.archive_key else []
            yield from _judge_deleted(volume, row, [*versions, *archive], at)
        else:
            yield from _judge_row(volume, row, at)
            yield from _judge_objects(volume, versions, at, s3, bucket)


def _list_versions(s3: S3Client, bucket: str, prefix: str) -> list[Any]:
    """Return all versions and delete markers under a prefix."""
    listed = s3.list_object_versions(Bucket=bucket, Prefix=prefix)
    return [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]


def _judge_deleted(volume: SentVolume, row: Any, versions: list[Any], at: Queried) -> Iterator[Finding]:
    place = f"volume {volume.volume_id}"
    if row.status != "deleted":
        yield Finding(UNFINISHED, f"{place} was deleted and is {row.status}")
    if versions:
        yield Finding(MISPLACED, f"{place} was deleted and has {[each['Key'] for each in versions[:5]]}")
    for table in _TABLES:
        count = at.query(f"SELECT COUNT(*) FROM {table} WHERE volume_id = :id", id=volume.volume_id)[0][0]
        if count:
            yield Finding(MISPLACED, f"{place} was deleted and has {count} rows of {table}")


def _judge_row(volume: SentVolume, row: Any, at: Queried) -> Iterator[Finding]:
    """The volume is ready, its sums are those of its files, and every part of a zip was expanded and counted once."""
    files = volume.plan.files
    expected = {
        "files": len(files),
        "bytes": sum(map(len, files.values())),
        "ignored": int(IGNORED in volume.plan.sent),
        "late_files": 0,
        "units_left": 0,
        "runs": volume.accepted,
    }
    got = {name: int(getattr(row, name)) for name in expected}
    if row.status != "ready" or row.list_position is not None:
        yield Finding(UNFINISHED, f"volume {volume.volume_id} is {row.status} and at {row.list_position}")
    if got != expected:
        yield Finding(MISPLACED, f"volume {volume.volume_id} has {got}, expected was {expected}")
    rows = at.query("SELECT unit_no, status FROM volume_units WHERE volume_id = :id", id=volume.volume_id)
    units = sorted((each.unit_no, each.status) for each in rows)
    if units != [(number, "done") for number in range(1, row.units + 1)] or bool(units) != volume.plan.is_zip:
        yield Finding(LOST, f"volume {volume.volume_id} has the parts {units}")


def _judge_objects(
    volume: SentVolume, versions: list[Any], at: Queried, s3: S3Client, bucket: str
) -> Iterator[Finding]:
    """Each file has one row, and one version of one object, which the row names and which has the bytes sent."""
    plan, place = volume.plan, f"volume {volume.volume_id}"
    rows = at.query("SELECT * FROM volume_files WHERE volume_id = :id ORDER BY file_no", id=volume.volume_id)
    yield from compare(f"files of {place}", Counter(list(plan.files)), Counter(row.path for row in rows))
    keys = Counter(each["Key"].removeprefix(volume.prefix) for each in versions)
    yield from compare(f"objects of {place}", Counter(list(plan.files if plan.is_zip else plan.sent)), keys)
    if [row.file_no for row in rows] != list(range(len(rows))):
        yield Finding(DOUBLED, f"the files of {place} have the numbers {[row.file_no for row in rows]}")
    for row in rows:
        data = plan.files.get(row.path, b"")
        sha256 = bytes(row.sha256).hex() if row.sha256 else None
        expected = hashlib.sha256(data).hexdigest() if plan.is_zip else None
        if (row.size, sha256) != (len(data), expected):
            yield Finding(MISPLACED, f"{row.path} of {place} has {row.size} bytes and the hash {sha256}")
        named = [
            each for each in versions if (each["Key"], each["VersionId"]) == (volume.prefix + row.path, row.version_id)
        ]
        if not named:
            yield Finding(LOST, f"{row.path} of {place} names version {row.version_id}, which is not there")
    for each in versions:
        path = each["Key"].removeprefix(volume.prefix)
        # Of a delete marker there is nothing to read.
        body = (
            None
            if "Size" not in each
            else s3.get_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])["Body"].read()
        )
        if path in plan.sent and body != plan.sent[path]:
            yield Finding(MISPLACED, f"{path} of {place} has other bytes than were sent")
