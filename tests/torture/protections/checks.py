"""Checks of load files, and mapping profiles, without what keeps each apart from the import and from other clients."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from tests.torture.protections.switch import Switch, instead, reword, swap, there

_COMMANDS, _COMPLETION = "shell.imports.checks.commands", "shell.imports.checks.completion"


def _check_apart() -> None:
    def writing(compare: Any) -> Any:
        def compared(transaction: Any, chunk_input: Any) -> Any:
            store = "shell.imports.chunks.exhibit_store"
            new = there(f"{store}:prepare_exhibits")(chunk_input.list_new_rows())
            there(f"{store}:insert_exhibits")(transaction, new)
            return compare(transaction, chunk_input)

        return compared

    swap("shell.imports.chunks.checker:compare_with_case", writing)


def _run_once() -> None:
    instead(f"{_COMMANDS}:_lock", lambda transaction, _caller, place: transaction.get(_imports(), place))
    reword(f"{_COMMANDS}:_RUN", " AND status = 'checked'", "")


def _imports() -> Any:
    return there("shell.tables.imports:Imports")


def _check_phase() -> None:
    """A chunk that was read to be checked counts down on the import that runs by then."""
    chunks = "shell.imports.state.progress:CHUNKS"
    reword(f"{chunks}.count_down", "status = :status", "status IN ('checking', 'running')")
    swap(f"{chunks}.complete", lambda complete: lambda *given: complete(*given[:-1], None))


def _check_attempts() -> None:
    """What an attempt has found counts although it was killed, or another one has ended the check."""
    every = there(f"{_COMPLETION}:_CURRENT")
    for name in ("_CODES", "_FIRST_MESSAGE"):
        reword(f"{_COMPLETION}:{name}", every, "1 = 1")
    queries = "shell.imports.checks.queries"
    for name in ("_OF_CODE", "_OF_ALL"):
        swap(f"{queries}:{name}", _of_every_attempt)


def _of_every_attempt(statement: Any) -> Any:
    condition = "f.seq < :per_attempt OR "
    if condition not in statement.text:
        raise ValueError(f"the statement has no {condition!r}")
    return text(statement.text.replace(condition, ":per_attempt > 0 OR "))


def _profile_version() -> None:
    load = there("shell.imports.profiles:_load")
    instead(
        "shell.imports.profiles:_load_at_version",
        lambda transaction, caller, profile_id, _: load(transaction, caller, profile_id),
    )


OF_CHECKS = {
    "check-apart": Switch("a chunk that is checked inserts its exhibits too", "imports.chunks.checker", _check_apart),
    "check-run": Switch(
        "a run neither locks its import nor requires that it is checked", "imports.checks.commands", _run_once
    ),
    "check-phase": Switch(
        "a worker that has read a chunk to check it may complete it for the run",
        "work.units",
        _check_phase,
        why="the generation, which a run raises",
    ),
    "check-attempts": Switch(
        "the findings of every attempt to end a check count",
        "imports.checks.completion, imports.checks.queries",
        _check_attempts,
    ),
    "profile-version": Switch(
        "a profile is replaced or deleted, whichever version the client read", "imports.profiles", _profile_version
    ),
    "profiles-unique": Switch(
        "several profiles may have one name",
        "imports.profiles, tables.profiles",
        keys=("import_profiles.uq_import_profiles_name",),
    ),
}
