"""Documents for productions that are disturbed, and how many of the places at which they can be are tried."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shell.productions import documents, executions
from shell.settings import settings
from tests.support.application.driver import World
from tests.support.aws.lambda_executions import FakeLambda
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, put_documents
from tests.support.productions.saga_faults import NUMBERS, PART_SIZE


@pytest.fixture(scope="session")
def fewer(race_counts: int) -> int:
    """By what counts are divided of which one is a whole production: 30, or 1 with all race counts."""
    return 1 if race_counts == 1 else 3 * race_counts


@pytest.fixture
def small_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents in the bucket, of which each is a part of a volume."""
    monkeypatch.setattr(documents, "PART_SIZE", PART_SIZE)
    put_documents(world, NUMBERS)


@pytest.fixture
def lambdas(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLambda]:
    """Lambda, for the length of the test."""
    fake = FakeLambda()
    monkeypatch.setenv("PRODUCE_FUNCTION_ARN", "arn:produce:live")
    settings.cache_clear()
    monkeypatch.setattr(executions, "lambda_client", lambda: fake)
    yield fake
    settings.cache_clear()


@pytest.fixture
def production(world: World) -> int:
    """One that was requested."""
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    return ask()
