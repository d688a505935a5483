"""Imports that are held without what makes that run which a user has seen."""

from __future__ import annotations

from sqlalchemy import bindparam

from tests.torture.protections.switch import OR_NO_END, Switch, instead, reword, swap

_STEPS, _FACTS = "shell.imports.steps", "shell.imports.state.facts"


def _version() -> None:
    instead(f"{_STEPS}:require_version", lambda *_: None)


def _lock() -> None:
    reword(f"{_FACTS}:_LOCK", " FOR UPDATE", "")


def _generation() -> None:
    for name in ("_RESET", "_WISH"):
        reword(f"{_STEPS}:{name}", "generation = generation + 1", "generation = generation")
    # The new words know nothing of its list of ids.
    swap(f"{_STEPS}:_RESET", lambda statement: statement.bindparams(bindparam("ids", expanding=True)))


OF_HELD = {
    "options-version": Switch(
        "options are changed, checked and run, whichever version of them the client read",
        "imports.state.facts, imports.steps",
        _version,
    ),
    "options-generation": Switch(
        "a change of options, a check and a run begin no generation of their own",
        "imports.steps, imports.splitting.former_split, imports.splitting.registration",
        _generation,
        shows_as=OR_NO_END,
    ),
    "steps-lock": Switch(
        "the steps of an import that is held are decided without the lock of its row", "imports.state.facts", _lock
    ),
}
