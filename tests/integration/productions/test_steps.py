"""More parts than steps: each step copies several, the volume is the same, and what is repeated is not copied again."""

from __future__ import annotations

import pytest
from aws_durable_execution_sdk_python_testing.stores.memory import InMemoryExecutionStore

from core.errors import StorageUnavailableError
from core.productions import parts
from shell.aws import clients
from shell.productions import documents, steps
from shell.tables.productions import Productions
from tests.support.application.driver import World
from tests.support.productions.runs import ask, execute, objects_of, put_documents, status_of

NUMBERS = tuple(f"D-{number}" for number in range(5))


@pytest.fixture
def few_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five documents, each a part, of which a production may copy at most three in steps of their own."""
    monkeypatch.setattr(documents, "PART_SIZE", 1)
    monkeypatch.setattr(parts, "MAX_COPY_STEPS", 3)
    put_documents(world, NUMBERS)


def run(production: int) -> list[str]:
    """Execute the production; returns the names of the execution's steps that copied."""
    store = InMemoryExecutionStore()
    execute(production, store=store)
    [execution] = store.list_all()
    names = [each.name for each in execution.operations if each.operation_type.value == "STEP"]
    return [name for name in names if name and name.startswith("copy")]


@pytest.mark.usefixtures("few_steps")
def test_a_volume_of_more_parts_than_steps_is_complete(world: World) -> None:
    production = ask()
    # Two, two and one; the load files; and reading all of it back.
    assert run(production) == [f"copy:{number}" for number in range(1, 6)]
    assert status_of(world, production) == "confirmed"
    natives = sorted(path for path in objects_of(world, production) if "/NATIVES/" in path)
    assert natives == [f"VOL001/NATIVES/000{number}/ACME000000{number}.docx" for number in range(1, 6)]


@pytest.mark.usefixtures("few_steps")
def test_a_step_that_is_repeated_in_its_middle_copies_each_file_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[int] = []
    copy_part = steps._copy_part

    def fail_once(production: Productions, case: str, start: tuple[int, int], part: int) -> None:
        copied.append(part)
        if copied == [0, 1]:
            raise StorageUnavailableError("The invocation's time is over.")
        copy_part(production, case, start, part)

    monkeypatch.setattr(steps, "_copy_part", fail_once)
    production = ask()
    run(production)
    assert (copied, status_of(world, production)) == ([0, 1, 0, 1, 2, 3, 4], "confirmed")
    prefix = f"productions/{production}/VOL001/NATIVES/"
    versions = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=prefix)["Versions"]
    assert len(versions) == len({each["Key"] for each in versions}) == len(NUMBERS)
