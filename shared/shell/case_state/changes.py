"""Write the record of a case's changes, and the activity of each, in the transaction of the change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from core.statuses import CaseChange
from shell.activity_log import Act, ActKind, record_user_act
from shell.tables.cases import CaseChanges, Cases


def record_change(
    transaction: Session,
    case: Cases,
    kind: CaseChange,
    user_id: str | None,
    details: Mapping[str, Any] | None = None,
    note: str | None = None,
) -> None:
    """Record a change of a case whose row is locked; `user_id` is None for the application.

    `details` are ids, counts and days; `note` is what the user stated, which a purge removes.
    """
    owner = {"tenant_id": case.tenant_id, "case_id": case.id, "user_id": user_id}
    transaction.add(CaseChanges(**owner, kind=kind.value, details=json.dumps(dict(details or {})), note=note))
    transaction.flush()
    act = Act(ActKind(f"case.{kind.value}"), case.id, case.id, dict(details or {}))
    record_user_act(transaction, case.tenant_id, user_id, act)
