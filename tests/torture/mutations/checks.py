"""What the check of a damaged file says, and what the import of the same upload then does: they must be equal.

Compared are the failure of a whole file, the counts, every code with its line, column and message, and the names that
are new; and what the case holds before and after the check.
"""

from __future__ import annotations

import json
import random
from typing import Any

import start_import
from core.caller import Caller
from core.codes import CheckCode
from core.contracts.imports.checks import RunRequest
from samples.words import build_random
from shell.db.session import session
from shell.imports.checks.queries import list_findings
from shell.imports.queries import get_import
from shell.imports.steps import run_import
from tests.support.application.driver import World, call, request_messages
from tests.torture.mutations.imports import deliver, deliver_chunks
from tests.torture.mutations.load_files import Mutated
from tests.torture.mutations.records import demand

_CALLER = Caller(tenant_id="tenant", user_id="ann@example.com")
_ONE_IN = 2
# What a check finds across the file, and an import does not say.
_ALONE = frozenset(CheckCode)
_CASE = (
    "SELECT e.* FROM exhibits e JOIN cases c ON c.id = e.case_id WHERE c.name = :case ORDER BY e.id",
    "SELECT n.* FROM custodians n JOIN cases c ON c.id = n.case_id WHERE c.name = :case ORDER BY n.id",
    "SELECT n.* FROM tags n JOIN cases c ON c.id = n.case_id WHERE c.name = :case ORDER BY n.id",
    "SELECT COUNT(*) FROM custodian_exhibits",
    "SELECT COUNT(*) FROM taggings",
    "SELECT COUNT(*) FROM exhibit_changes",
    "SELECT COUNT(*) FROM import_rejections",
    "SELECT COUNT(*) FROM import_name_occurrences",
)
_REPORTED = (
    "SELECT code, line_no, column_name, message FROM import_rejections WHERE import_id = :id UNION ALL "
    "SELECT code, line_no, column_name, message FROM import_warnings WHERE import_id = :id"
)


def agreed(world: World, mutated: Mutated) -> dict[str, int]:
    """Check the file, half of them after the file that it was, and import it; raises ViolationError for a difference.

    Returns how many files could not be imported, rows were seen, and findings were compared.
    """
    rng = build_random(mutated.number, "check")
    case, options = f"Checked {mutated.number}", dict(mutated.options)
    if rng.random() < 1 / _ONE_IN:
        deliver(world, mutated.base.data, mutated.base.options or {}, case, rng)
        options |= _draw_mode(rng)
    before = _dump(world, case)
    import_id = deliver(world, mutated.data, {**options, "dry_run": True}, case, rng)
    demand(_dump(world, case) == before, "the check changed the case")
    details = get_import(_CALLER, import_id)
    if details.check is None:
        again = deliver(world, mutated.data, options, case, rng)
        demand(_failure(world, import_id) == _failure(world, again), "check and import fail with other reasons")
        return {"failed": 1}
    found = _list_findings(import_id)
    with session() as transaction:
        run_import(transaction, _CALLER, import_id, RunRequest.model_validate({"acceptRejections": True}))
    for message in request_messages():
        demand(call(start_import.lambda_handler, message), "the request of the run comes back")
    deliver_chunks(world, rng)
    after = get_import(_CALLER, import_id)
    check = details.check
    said = (check.would_import, check.would_update, check.unchanged, check.would_reject)
    did = (after.imported, after.updated, after.unchanged, after.rejected)
    demand(said == did, f"the check said {said}, the import did {did}")
    reported = sorted(map(tuple, world.query(_REPORTED, id=import_id)), key=_sort_key)
    demand(found == reported, f"check alone: {_rest(found, reported)}; import alone: {_rest(reported, found)}")
    names = world.query("SELECT custodians_created, tags_created FROM imports WHERE id = :id", id=import_id)
    demand(names == [(check.new_custodians, check.new_tags)], f"other new names: {names}")
    return {"rows_seen": after.rows_seen, "findings": len(found)}


def _draw_mode(rng: random.Random) -> dict[str, str]:
    """Return the options of an overlay for half of the files, none for the others."""
    if rng.random() < 1 / _ONE_IN:
        return {}
    values = {"mode": ("overlay", "append_overlay"), "blanks": ("keep", "clear"), "multi_values": ("merge", "replace")}
    return {name: rng.choice(known) for name, known in values.items()}


def _dump(world: World, case: str) -> str:
    return json.dumps([[tuple(row) for row in world.query(each, case=case)] for each in _CASE], default=str)


def _failure(world: World, import_id: int) -> Any:
    return world.query("SELECT status, failure_code, failure_message FROM imports WHERE id = :id", id=import_id)[0]


def _list_findings(import_id: int) -> list[tuple[str, int, str | None, str]]:
    found, after = [], None
    while True:
        page = list_findings(_CALLER, import_id, None, 1000, after)
        common = (each for each in page.items if each.code not in _ALONE)
        found += [(each.code, each.line, each.column, each.message) for each in common]
        after = page.next
        if after is None:
            return sorted(found, key=_sort_key)


def _sort_key(row: Any) -> tuple[str, ...]:
    return tuple(map(str, row))


def _rest(these: list[Any], those: list[Any]) -> list[Any]:
    return [each for each in these if each not in those][:3]
