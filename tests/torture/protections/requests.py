"""Requests without what gives each its one effect, and database sessions without what makes them safe to repeat."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

from sqlalchemy import text

from tests.torture.findings import WRONG
from tests.torture.protections.switch import OR_NO_END, Switch, instead, reword, swap, there

_FENCE = " AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"


def _claim() -> None:
    reword("shell.utils.idempotency:_CLAIM", there("shell.utils.idempotency:_FREE"), "(1 = 1)")
    instead("shell.utils.response_cache:find", lambda _request: None)


def _fence() -> None:
    reword("shell.utils.idempotency:_COMPLETE", _FENCE, "")


def _commit_resolution() -> None:
    def blindly(unit: Any, _resolve: Any) -> Any:
        attempt = there("shell.db.retry:_attempt")
        attempt.set(attempt.get() + 1)
        try:
            return unit()
        except there("core.errors:CommitOutcomeUnknownError") as unknown:
            raise there("shell.db.retry:_DidNotCommitError")() from unknown

    instead("shell.db.retry:_run_and_resolve", blindly)


def _commit_resolution_and_fence() -> None:
    _commit_resolution()
    _fence()


def _retry() -> None:
    instead("shell.db.retry:_retry", lambda unit, _resolve, _name: unit())


def _failover() -> None:
    lost = there("shell.db.errors:DbErrorClass").CONNECTION
    instead("shell.db.session:is_connection_broken", lambda error: there("shell.db.errors:classify")(error) is lost)
    instead("shell.db.session:refuse_unsafe_server", lambda *_: None)
    swap("shell.db.session:create_engine", lambda make: lambda *at, **how: make(*at, **{**how, "pool_recycle": -1}))


def _exhibit_version() -> None:
    instead("shell.exhibits.commands:patch_exhibit", _patch)


def _patch(transaction: Any, caller: Any, exhibit_id: int, _versions: object, change: Any) -> Any:
    load = there("shell.exhibits.commands:load_exhibit")
    exhibit, _ = load(transaction, caller, exhibit_id)
    changed = {name: getattr(change, name) for name in change.model_fields_set}
    fields = "".join(f"{name} = :{name}, " for name in changed)
    statement = f"UPDATE exhibits SET {fields}row_hash = NULL, version = :read + 1 WHERE id = :id"
    transaction.execute(text(statement), {**changed, "id": exhibit_id, "read": exhibit.version})
    _record_blindly(transaction, caller, exhibit, changed)
    there("shell.activity_log:record_no_act")(transaction)
    return there("shell.exhibits.commands:describe_exhibit")(transaction, *load(transaction, caller, exhibit_id))


def _record_blindly(transaction: Any, caller: Any, exhibit: Any, changed: dict[str, Any]) -> None:
    """Write the row of the version that was read, and one of another change in its place: its key protects too."""
    changes = {"fields": {name: {"old": getattr(exhibit, name), "new": value} for name, value in changed.items()}}
    transaction.execute(
        text(
            "REPLACE INTO exhibit_changes (exhibit_id, version, action, user_id, changes) "
            "VALUES (:id, :version, 'edited', :user, :changes)"
        ),
        {"id": exhibit.id, "version": exhibit.version + 1, "user": caller.user_id, "changes": json.dumps(changes)},
    )


def _history_together() -> None:
    def late(write: Any) -> Any:
        def written(transaction: Any, *given: Any) -> None:
            transaction.commit()
            write(transaction, *given)

        return written

    for module in ("exhibits.history", "exhibits.commands", "imports.chunks.overlay_writer", "imports.undo.restoring"):
        swap(f"shell.{module}:write_entries", late)


def _custody_version() -> None:
    load = there("shell.custody.commands:load_period")
    instead(
        "shell.custody.commands:_load_at_version",
        lambda transaction, caller, period_id, _: load(transaction, caller, period_id)[0],
    )


def _custody_device() -> None:
    instead("shell.custody.commands:exclusive_devices", lambda *_: nullcontext())


def _taggings_together() -> None:
    def one_by_one(add: Any) -> Any:
        def added(transaction: Any, caller: Any, request: Any) -> Any:
            for exhibit in sorted(set(request.exhibit_ids)):
                with there("shell.db.session:session")() as alone:
                    add(alone, caller, request.model_copy(update={"exhibit_ids": [exhibit]}))
            return add(transaction, caller, request)

        return added

    swap("shell.exhibits.commands:add_taggings", one_by_one)


OF_REQUESTS = {
    "idempotency-claim": Switch(
        "a request runs though its key has a response or an owner", "utils.idempotency", _claim
    ),
    "idempotency-fence": Switch(
        "an effect commits even if another request owns its key", "utils.idempotency", _fence, short_leases=True
    ),
    "commit-resolution": Switch(
        "a unit is repeated after a lost COMMIT without a check",
        "db.retry",
        _commit_resolution_and_fence,
        why="the fencing, which finds the stored response",
    ),
    "replay": Switch(
        "a transaction that the database aborted is not retried; its caller gets an internal error",
        "db.retry",
        _retry,
        shows_as=frozenset({WRONG}),
    ),
    "failover": Switch(
        "a connection whose server turned read-only stays in use",
        "db.session, db.errors",
        _failover,
        shows_as=OR_NO_END,
    ),
    "exhibit-version": Switch(
        "an exhibit is corrected, whichever version the client read", "exhibits.commands", _exhibit_version
    ),
    "history-together": Switch(
        "a change of an exhibit commits before its history does", "exhibits.history", _history_together
    ),
    "custody-version": Switch(
        "a period is changed, whichever version the client read", "custody.commands", _custody_version
    ),
    "custody-device": Switch(
        "periods of a device are read and written without its row", "custody.device_locks", _custody_device
    ),
    "devices-unique": Switch(
        "several devices may have one number",
        "custody.device_locks, tables.custody",
        keys=("devices.uq_devices_number",),
        shows_as=OR_NO_END,
    ),
    "taggings-together": Switch(
        "each exhibit is tagged in its own transaction", "exhibits.commands", _taggings_together
    ),
}
