"""A production from the request to the confirmed volume, and undone where a step fails for good."""

from __future__ import annotations

from core.productions.step_names import StepName
from shell.productions.saga import STEPS
from tests.support.productions import ask, documents_of, execute, objects_of, put_documents, status_of, steps_of
from tests.support.world import World


def test_the_steps_that_are_recorded_are_those_that_are_run() -> None:
    assert tuple(step.name for step in STEPS) == tuple(StepName)


def test_a_production_is_made(world: World) -> None:
    put_documents(world, ["DOC-1", "DOC-2", "DOC-3"])
    production = ask()
    assert execute(production) == {"status": "confirmed", "unfinished": []}
    assert status_of(world, production) == "confirmed"
    assert set(steps_of(world, production).values()) == {"completed"}
    assert documents_of(world, production) == [(1, 1, "produced"), (2, 2, "produced"), (3, 3, "produced")]
    objects = objects_of(world, production)
    assert objects["VOL001/NATIVES/0001/ACME0000002.docx"] == b"native of DOC-2"
    assert objects["VOL001/TEXT/0001/ACME0000003.txt"] == b"text of DOC-3"
    assert set(objects) >= {"VOL001/DATA/VOL001.dat"}
