"""The version of Aurora MySQL: whether the region has it or a newer patch, and whether a snapshot restores under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tools.preflight.demand import Demand
from tools.preflight.findings import Finding, Severity, join

if TYPE_CHECKING:
    from mypy_boto3_rds import RDSClient

ENGINE = "aurora-mysql"


def check_database(rds: RDSClient, demand: Demand) -> Iterator[Finding]:
    """Yield whether the region offers DatabaseVersion, what is newer, and what DatabaseSnapshot requires."""
    version = demand.database_version
    offered = _list_versions(rds)
    patches = {each for each in offered if _number(each)[:2] == _number(version)[:2]}
    newest = max(patches, key=_number, default=version)
    if version not in offered:
        choices = join(patches or offered)
        text = f"the region does not offer {version}. Set DatabaseVersion to one of: {choices}."
        yield Finding(Severity.PROBLEM, "database", text)
    elif _number(newest) > _number(version):
        text = f"{newest} is a newer patch of {version}; a new stack should set DatabaseVersion={newest}."
        yield Finding(Severity.NOTE, "database", text)
    else:
        yield Finding(Severity.OK, "database", f"the region offers {version}, and no newer patch of it.")
    if demand.database_snapshot:
        yield _check_snapshot(rds, demand)


def _list_versions(rds: RDSClient) -> set[str]:
    pages = rds.get_paginator("describe_db_engine_versions").paginate(Engine=ENGINE)
    versions = {each["EngineVersion"] for page in pages for each in page["DBEngineVersions"]}
    return {version for version in versions if version.startswith("8.0.mysql_aurora.3.")}


def _check_snapshot(rds: RDSClient, demand: Demand) -> Finding:
    response = rds.describe_db_cluster_snapshots(DBClusterSnapshotIdentifier=demand.database_snapshot)
    (snapshot,) = response["DBClusterSnapshots"]
    taken = snapshot["EngineVersion"]
    if _number(taken) > _number(demand.database_version):
        text = f"the snapshot is of {taken} and does not restore under an older version. Set DatabaseVersion={taken}."
        return Finding(Severity.PROBLEM, "snapshot", text)
    return Finding(Severity.OK, "snapshot", f"it is of {taken} and restores under {demand.database_version}.")


def _number(version: str) -> tuple[int, ...]:
    """Return 3, 10, 4 of 8.0.mysql_aurora.3.10.4: comparable, unlike the text."""
    return tuple(int(part) for part in version.rpartition("mysql_aurora.")[2].split(".") if part.isdigit())
