"""Requests without what gives each its one effect, and database sessions without what makes them safe to repeat."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from sqlalchemy import text

from tests.torture.findings import WRONG
from tests.torture.switching import OR_NO_END, Switch, instead, reword, swap, there

_FENCE = " AND owner = :owner AND attempt = :attempt AND status = 'in_progress'"


def _claim() -> None:
    reword("shell.utils.idempotency:_CLAIM", there("shell.utils.idempotency:_FREE"), "(1 = 1)")
    instead("shell.utils.answer_cache:find", lambda _request: None)


def _fence() -> None:
    reword("shell.utils.idempotency:_COMPLETE", _FENCE, "")


def _commit_resolution() -> None:
    def blindly(unit: Any, _resolve: Any) -> Any:
        attempt = there("shell.utils.replaying:_attempt")
        attempt.set(attempt.get() + 1)
        try:
            return unit()
        except there("core.errors:CommitOutcomeUnknownError") as unknown:
            raise there("shell.utils.replaying:_DidNotCommitError")() from unknown

    instead("shell.utils.replaying:_settling_commits", blindly)


def _commit_resolution_and_fence() -> None:
    _commit_resolution()
    _fence()


def _replay() -> None:
    instead("shell.utils.replaying:_replay", lambda unit, _resolve, _name: unit())


def _failover() -> None:
    lost = there("shell.utils.db_errors:DbErrorClass").CONNECTION
    instead(
        "shell.utils.db_session:breaks_connection", lambda error: there("shell.utils.db_errors:classify")(error) is lost
    )
    instead("shell.utils.db_session:refuse_unsafe_server", lambda *_: None)
    swap(
        "shell.utils.db_session:create_engine", lambda make: lambda *at, **how: make(*at, **{**how, "pool_recycle": -1})
    )


def _exhibit_version() -> None:
    instead("shell.exhibit_change_ops:patch_exhibit", _patch)


def _patch(transaction: Any, caller: Any, exhibit_id: int, _versions: object, change: Any) -> Any:
    load = there("shell.exhibit_change_ops:load_exhibit")
    exhibit, _ = load(transaction, caller, exhibit_id)
    wanted = {name: getattr(change, name) for name in change.model_fields_set}
    fields = "".join(f"{name} = :{name}, " for name in wanted)
    statement = f"UPDATE exhibits SET {fields}row_hash = NULL, version = :read + 1 WHERE id = :id"
    transaction.execute(text(statement), {**wanted, "id": exhibit_id, "read": exhibit.version})
    return there("shell.exhibit_change_ops:described")(transaction, *load(transaction, caller, exhibit_id))


def _custody_version() -> None:
    load = there("shell.custody_ops:load_period")
    instead(
        "shell.custody_ops:_at_version",
        lambda transaction, caller, period_id, _: load(transaction, caller, period_id)[0],
    )


def _custody_device() -> None:
    instead("shell.custody_ops:serialised", lambda *_: nullcontext())


def _taggings_together() -> None:
    def one_by_one(add: Any) -> Any:
        def added(transaction: Any, caller: Any, request: Any) -> Any:
            for exhibit in sorted(set(request.exhibit_ids)):
                with there("shell.utils.db_session:session")() as alone:
                    add(alone, caller, request.model_copy(update={"exhibit_ids": [exhibit]}))
            return add(transaction, caller, request)

        return added

    swap("shell.exhibit_change_ops:add_taggings", one_by_one)


OF_REQUESTS = {
    "idempotency-claim": Switch("a request is made though its key has an answer, or an owner", "idempotency", _claim),
    "idempotency-fence": Switch(
        "an effect commits, whoever owns its key by then", "idempotency", _fence, short_leases=True
    ),
    "commit-resolution": Switch(
        "what a lost COMMIT may have done is done again without a look",
        "replaying",
        _commit_resolution_and_fence,
        why="the fence, which finds the answer that is there",
    ),
    "replay": Switch(
        "a transaction that the database wants made again is not; its caller hears of an internal error",
        "replaying",
        _replay,
        shows_as=frozenset({WRONG}),
    ),
    "failover": Switch(
        "a connection whose server turned read-only is used on",
        "db_session, db_errors",
        _failover,
        shows_as=OR_NO_END,
    ),
    "exhibit-version": Switch(
        "an exhibit is corrected, whichever version the client saw", "exhibit_change_ops", _exhibit_version
    ),
    "custody-version": Switch("a period is changed, whichever version the client saw", "custody_ops", _custody_version),
    "custody-device": Switch(
        "periods of a device are looked at and written without its row", "device_ops", _custody_device
    ),
    "devices-unique": Switch(
        "devices of one number may be several",
        "device_ops, tables/custody",
        keys=("devices.uq_devices_number",),
        shows_as=OR_NO_END,
    ),
    "taggings-together": Switch(
        "each exhibit is tagged in a transaction of its own", "exhibit_change_ops", _taggings_together
    ),
}
