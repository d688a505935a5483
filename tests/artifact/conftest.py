"""What `make lambda` built, running: on a stack where a function does only what a test invokes it for.

Run by `make lambda`, which builds first; `make test` does not look here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from local.lambda_runtime.build_artifact import Artifact
from local.stack import LocalStack, StackOptions
from local.stack.options import REPOSITORY
from tests.artifact.sending import Sender
from tests.artifact.watching import seen_here
from tests.support.world import World


@pytest.fixture(scope="session")
def artifact() -> Artifact:
    """The newest one."""
    return Artifact.load(REPOSITORY / ".aws-sam" / "here")


@pytest.fixture(scope="session")
def quiet(artifact: Artifact, schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """The built functions; no queue is polled and no schedule runs."""
    at = schema_url.render_as_string(hide_password=False)
    state = tmp_path_factory.mktemp("state")
    with LocalStack(
        state, StackOptions(workers=1, database_url=at, artifact=artifact.folder, poll_events=False)
    ) as stack:
        yield stack


@pytest.fixture(scope="session")
def environment(quiet: LocalStack) -> Iterator[dict[str, str]]:
    """The stack's environment is this process's too, so that a test prepares and judges what its functions see."""
    with seen_here(quiet) as found:
        yield dict(os.environ) | found


@pytest.fixture(scope="session")
def migrated(environment: dict[str, str]) -> dict[str, str]:
    """The built function has migrated the schema when the stack started."""
    return environment


@pytest.fixture
def sender(quiet: LocalStack, world: World, tmp_path: Path) -> Sender:
    """Sends the events of events/ to the built functions, in an empty world."""
    return Sender(quiet, world)
