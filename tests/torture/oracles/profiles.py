"""Whether the versions of mapping profiles follow each other, and each import has used the copy that it says.

The truth is what callers were answered; nothing of the application is imported here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, MISPLACED, UNFINISHED, Finding


def judge_profiles(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """Every profile that callers created, replaced and deleted, and the imports that named one."""
    rows = at.query(
        "SELECT id, name, version, options, LOWER(HEX(header_fingerprint)) AS fingerprint FROM import_profiles "
        "WHERE tenant_id = :tenant",
        tenant=ledger.tenant,
    )
    last: dict[int, int] = {}
    for profile, version in ledger.profiles:
        last[profile] = max(last.get(profile, 0), version)
    if not last or not ledger.profiled:
        yield Finding(UNFINISHED, f"{len(last)} profiles, and {len(ledger.profiled)} imports that named one")
    yield from _judge_versions(ledger, last)
    yield from _judge_rows(ledger, last, rows)
    for import_id, used in ledger.profiled.items():
        yield from _judge_import(ledger, at, import_id, used)


def _judge_versions(ledger: Ledger, last: dict[int, int]) -> Iterator[Finding]:
    """Each version was answered to one caller, without a gap."""
    for profile, highest in last.items():
        gaps = [version for version in range(1, highest + 1) if (profile, version) not in ledger.profiles]
        if gaps:
            yield Finding(LOST, f"no caller was answered versions {gaps} of profile {profile}, of {highest}")


def _judge_rows(ledger: Ledger, last: dict[int, int], rows: Any) -> Iterator[Finding]:
    """What is there is the last version of each, of one profile a name; nothing is left of what was deleted."""
    for name, count in Counter(row.name for row in rows).items():
        if count > 1:
            yield Finding(DOUBLED, f"{count} profiles have the name {name}")
    got = {row.id: _describe(row.name, row.version, json.loads(row.options), row.fingerprint) for row in rows}
    for profile, version in last.items():
        answered = ledger.profiles[profile, version]
        expected = _describe(answered["name"], version, answered["options"], answered["headerFingerprint"])
        if profile in ledger.deleted_profiles:
            if profile in got:
                yield Finding(MISPLACED, f"profile {profile} was deleted and is there")
        elif got.get(profile) != expected:
            yield Finding(LOST, f"profile {profile} was answered as {expected}, and is {got.get(profile)}")
    if got.keys() - last.keys():
        yield Finding(DOUBLED, f"profiles that were answered to no caller: {sorted(got.keys() - last.keys())}")


def _describe(
    name: str, version: int, options: dict[str, Any], fingerprint: str
) -> tuple[str, int, dict[str, str], str]:
    return name, version, dict(options["columns"]), fingerprint


def _judge_import(ledger: Ledger, at: Queried, import_id: int, used: dict[str, Any]) -> Iterator[Finding]:
    """The text is in the field that the version of its profile names."""
    known = [each for each in ledger.profiles.values() if used.items() <= each.items()] if used else []
    rows = at.query("SELECT title, file_name FROM exhibits WHERE import_id = :id", id=import_id)
    if not known:
        yield Finding(MISPLACED, f"import {import_id} has used {used}, which no caller was answered")
        return
    field = known[0]["options"]["columns"]["Text"]
    filled = [[name for name in row._fields if getattr(row, name)] for row in rows]
    if filled != [[field]]:
        kind = LOST if not rows else MISPLACED
        yield Finding(kind, f"import {import_id} of profile {used} has filled {filled}, and not [{field}]")
