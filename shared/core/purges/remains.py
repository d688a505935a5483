"""What a purge does not destroy, and until when it is there: the part of a certificate that is not a count.

The keys of objects contain the names of cases and files, and AWS keeps keys outside of the bucket: in logs, in events
and in backups. Nothing here has a name or a key itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

# SQS keeps a message for at most 14 days, also a dead letter.
MESSAGE_DAYS = 14
# S3 deletes noncurrent versions and their keys at once, but keys stay in what it has delivered.
_BY_OPERATOR = "as long as the operator of the deployment keeps them"


class Keeping(NamedTuple):
    """For how many days the deployment keeps backups, those of its vault (0: it has none), and logs; None: unknown."""

    backup_days: int | None
    vault_days: int | None
    log_days: int | None


class Remainder(NamedTuple):
    """What remains, and until when: at the end of `until`, or as `note` says."""

    what: str
    until: datetime | None
    note: str


def list_remains(emptied_at: datetime, keeping: Keeping, replay_hours: int) -> list[Remainder]:
    """Return what remains after the rows and objects were deleted at a time."""
    known: Mapping[str, tuple[int | None, str]] = {
        "database backups": (keeping.backup_days, "All rows, in the automatic backups of the cluster."),
        "function logs": (keeping.log_days, "Ids and counts; keys of objects where a request for one failed."),
        "messages and dead letters": (MESSAGE_DAYS, "Notifications of uploads, which have the keys of load files."),
    }
    remains = [_remain(name, emptied_at, days, note) for name, (days, note) in known.items()]
    if keeping.vault_days != 0:
        remains.append(_remain("backup vault", emptied_at, keeping.vault_days, "Rows and objects, if it has a vault."))
    cached = "Responses to requests with an Idempotency-Key, in the cache alone, if the deployment has one."
    remains.append(Remainder("cached responses", emptied_at + timedelta(hours=replay_hours), cached))
    return [*remains, *_KEPT_BY_OTHERS]


def _remain(name: str, since: datetime, days: int | None, note: str) -> Remainder:
    if days is None:
        return Remainder(name, None, f"{note} How long is not known to the application.")
    return Remainder(name, since + timedelta(days=days), note)


_KEPT_BY_OTHERS = (
    Remainder("database snapshots", None, f"All rows, in snapshots that were taken by hand, {_BY_OPERATOR}."),
    Remainder(
        "access log of the bucket", None, f"Keys of objects, which have names of case and files, {_BY_OPERATOR}."
    ),
    Remainder("audit trail", None, f"Keys of objects, in a trail of data events, {_BY_OPERATOR}."),
    Remainder("copies elsewhere", None, f"What was replicated or copied to other buckets or regions, {_BY_OPERATOR}."),
    Remainder(
        "events",
        None,
        "Ids and counts, at the subscribers of the topic of events; of uploads that no import could be made of, the "
        "beginning of the key, which may have the name of the case.",
    ),
)
