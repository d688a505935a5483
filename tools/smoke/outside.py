"""The steps that need no user: what production shows after a deployment, without a document of a trial in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import boto3

from tools.smoke.alarm_mail import check_alarm_mail
from tools.smoke.client import Api, SmokeError, send

if TYPE_CHECKING:
    from tools.smoke.trial import Trial


def refuse_without_token(trial: Trial) -> None:
    """The API refuses a request without a valid token."""
    Api(trial.target["ApiUrl"], "none").call("GET", "/imports", expect=401)


def load_console(trial: Trial) -> None:
    """The page of the console is served, by a function of the new version."""
    response = send("GET", trial.target["ConsoleUrl"], None, {})
    if response.status != 200 or b"<html" not in response.body.lower():
        raise SmokeError(f"GET ConsoleUrl: expected a page, got {response.status} with {len(response.body)} bytes")


def find_no_page(trial: Trial) -> None:
    """No alarm of the stack that pages is on. Raises SmokeError with the names of those that are."""
    topic = trial.target["PageTopicArn"]
    pages = boto3.client("cloudwatch").get_paginator("describe_alarms").paginate(StateValue="ALARM")
    alarms = [each for page in pages for each in page["MetricAlarms"]]
    if on := sorted(each["AlarmName"] for each in alarms if topic in each["AlarmActions"]):
        raise SmokeError(f"alarms that page are on: {', '.join(on)}")


OUTSIDE_STEPS: Sequence[tuple[str, Callable[[Trial], str | None]]] = (
    ("no token", refuse_without_token),
    ("console", load_console),
    ("no page", find_no_page),
    ("alarm e-mail", check_alarm_mail),
)
