"""Corrections of an exhibit: properties as a merge patch, and custodians that are removed; each with its history."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts.exhibits import Exhibit, ExhibitChange
from core.contracts.pages import NewestFirst
from core.errors import InvalidInputError, NotFoundError
from core.exhibit_history import Action
from shell.exhibits.commands import add_custodians, patch_exhibit, remove_custodians
from shell.exhibits.queries import get_exhibit, list_changes
from shell.utils.document_properties import TEXT_COLUMN_BYTES
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases
from tests.support.undo.runs import undo


def patched(exhibit_id: int, version: int, **fields: Any) -> Exhibit:
    change = ExhibitChange.model_validate(fields)
    return done(patch_exhibit, CALLER, exhibit_id, frozenset({version}), change)


def exhibit_of(world: World, number: str = "A-1") -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def test_properties_are_added_changed_and_removed(world: World) -> None:
    world.run(b"Control Number,From,To,Mood\r\nA-1,ann,bob,May\r\n")
    exhibit = exhibit_of(world)
    found = patched(exhibit, 1, properties={"To": "carl", "Mood": None, "Absent": None, "Author": "\u00e5sa"})
    assert list(found.properties.items()) == [("From", "ann"), ("To", "carl"), ("Author", "\u00e5sa")]
    assert found == get_exhibit(CALLER, exhibit)
    [entry, _] = list_changes(CALLER, exhibit, NewestFirst(limit=10)).items
    assert (entry.version, entry.action) == (2, Action.EDITED)
    assert entry.properties == {
        "To": {"old": "bob", "new": "carl"},
        "Mood": {"old": "May"},
        "Absent": {},
        "Author": {"new": "\u00e5sa"},
    }
    assert entry.fields == {}
    [(row_hash,)] = world.query("SELECT row_hash FROM exhibits WHERE id = :e", e=exhibit)
    assert row_hash is None, "the next import treats the exhibit as changed"
    patched(exhibit, 2, properties={"From": None, "To": None, "Author": None})
    assert world.query("SELECT document_properties FROM exhibits WHERE id = :e", e=exhibit) == [(None,)]


def test_properties_that_do_not_fit_are_refused_and_nothing_is_dropped(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1", document_properties='{"From": "ann"}')
    for properties, reason in (
        ({"Long": "x" * TEXT_COLUMN_BYTES}, "all properties of the exhibit together"),
        ({"Face": "👍"}, "properties.Face: "),
    ):
        with pytest.raises(InvalidInputError, match=reason):
            patched(exhibit, 1, properties=properties)
    invalid: tuple[Any, ...] = ({}, {"": "x"}, {"A": 5}, {"A": "\ud800"}, None)
    for given in invalid:
        with pytest.raises(ValueError, match=r"propert|string"):
            ExhibitChange.model_validate({"properties": given})
    assert (cases.row(exhibit).version, cases.row(exhibit).document_properties) == (1, '{"From": "ann"}')


def test_an_undo_keeps_what_a_user_corrected(world: World) -> None:
    world.run(b"Control Number,From,To,Custodian\r\nA-1,ann,bob,Ada\r\n")
    overlay = b"Control Number,From,To,Custodian\r\nA-1,dora,emil,Grace\r\n"
    import_id = world.run(overlay, mode="append_overlay")
    exhibit = exhibit_of(world)
    assert get_exhibit(CALLER, exhibit).custodians == ["Ada", "Grace"]
    patched(exhibit, 2, properties={"To": "carl"})
    done(remove_custodians, CALLER, exhibit, ["Ada"])
    undo(world, import_id)
    found = get_exhibit(CALLER, exhibit)
    assert found.properties == {"From": "ann", "To": "carl", "Custodian": "Ada"}
    assert found.custodians == [], "the user removed the one, and the import is undone that added the other"


def test_custodians_are_removed_by_name(cases: Cases) -> None:
    exhibit = cases.exhibit("A-1")
    done(add_custodians, CALLER, exhibit, ["Ann", "Åsa Lind", "Bob"])
    left = done(remove_custodians, CALLER, exhibit, ["asa lind", "ANN", "Unknown"])
    assert [each.name for each in left.custodians] == ["Bob"]
    entry = list_changes(CALLER, exhibit, NewestFirst(limit=10)).items[0]
    assert (entry.version, entry.action, entry.user_id) == (3, Action.EDITED, CALLER.user_id)
    assert entry.custodians == {name: {"old": True, "new": False} for name in ("Ann", "Åsa Lind")}
    assert cases.database.scalar("SELECT COUNT(*) FROM custodians") == 3, "they stay custodians of the case"
    assert done(remove_custodians, CALLER, exhibit, ["Ann"]) == left
    assert cases.row(exhibit).version == 3, "nothing changed"
    with pytest.raises(InvalidInputError):
        done(remove_custodians, CALLER, exhibit, ["👍"])
    with pytest.raises(NotFoundError):
        done(remove_custodians, CALLER, 99, ["Ann"])
