"""`make smoke SMOKE_ARGS=--outside`: a page of this stack fails it, and a ticket or another stack's page does not."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tools.smoke.client import SmokeError
from tools.smoke.outside import OUTSIDE_STEPS, find_no_page, load_console, refuse_without_token
from tools.smoke.target import Target
from tools.smoke.trial import Trial

PAGE = "arn:aws:sns:us-east-1:123456789012:stack-PageTopic-1"
OTHERS = {"AlarmName": "other", "AlarmActions": [PAGE.replace("stack", "another")]}
TICKET = {"AlarmName": "ticket", "AlarmActions": [PAGE.replace("Page", "Ticket")]}
OURS = {"AlarmName": "ours", "AlarmActions": [PAGE]}


@pytest.mark.parametrize(("alarms", "on"), [([], False), ([OTHERS, TICKET], False), ([OTHERS, OURS], True)])
def test_only_a_page_of_this_stack_fails_it(
    monkeypatch: pytest.MonkeyPatch, alarms: list[dict[str, Any]], on: bool
) -> None:
    client = boto3.client("cloudwatch", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")  # noqa: S106
    stubber = Stubber(client)
    stubber.add_response("describe_alarms", {"MetricAlarms": alarms}, {"StateValue": "ALARM"})
    stubber.activate()
    monkeypatch.setattr(boto3, "client", lambda _service: client)
    trial = Trial(Target({"PageTopicArn": PAGE}, no_user), "smoke-1")
    if on:
        with pytest.raises(SmokeError, match=r"alarms that page are on: ours$"):
            find_no_page(trial)
    else:
        find_no_page(trial)


def no_user(_tenant: str, _role: str) -> str:
    raise AssertionError("no step has a user")


@pytest.mark.parametrize("step", [load_console, refuse_without_token])
def test_a_stack_that_does_not_answer_fails_it(step: Any) -> None:
    nowhere = {"ConsoleUrl": "http://127.0.0.1:1/console/", "ApiUrl": "http://127.0.0.1:1"}
    with pytest.raises(SmokeError, match="no response"):
        step(Trial(Target(nowhere, no_user), "smoke-1"))
    assert step in [each for _, each in OUTSIDE_STEPS]
