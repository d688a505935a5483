"""What `make lambda` built. Run by `make lambda`, which builds first; `make test` does not look here."""

from __future__ import annotations

import pytest

from local.lambda_runtime.build_artifact import Artifact
from local.stack.options import REPOSITORY


@pytest.fixture(scope="session")
def artifact() -> Artifact:
    """The newest one."""
    return Artifact.load(REPOSITORY / ".aws-sam" / "here")
