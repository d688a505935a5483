"""A durable execution goes on from its last checkpoint when its stack has ended and another one runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from local.stack import LocalStack, StackOptions
from tests.integration.local.test_durable import Sagas

if TYPE_CHECKING:
    from local.time_scale import TimeScale
    from tests.integration.local.conftest import ToyResults

pytestmark = pytest.mark.slow


def test_steps_that_have_ended_are_not_repeated_after_a_restart(
    tmp_path: Path, toy_template: Path, toy_time: TimeScale, listen: Callable[[LocalStack], ToyResults]
) -> None:
    options = StackOptions(workers=3, time_scale=toy_time, template=toy_template)
    with LocalStack(tmp_path / "state", options) as stack:
        sagas = Sagas(stack, listen(stack))
        arn = sagas.start("restarted", wait=60, gate=str(tmp_path / "gate"))
        sagas.stand_at_the_gate("restarted")
        assert sagas.steps("restarted") == ["first", "gate"]
    (tmp_path / "gate").touch()
    with LocalStack(tmp_path / "state", options) as stack:
        sagas = Sagas(stack, listen(stack))
        stack.wait_until_idle()
        assert sagas.start("restarted", wait=60, gate=str(tmp_path / "gate")) == arn
        assert (sagas.get(arn)["Status"], sagas.steps("restarted")) == ("SUCCEEDED", ["gate"])
        assert stack.get_execution_statuses("SagaFunction") == {"restarted": "SUCCEEDED"}
