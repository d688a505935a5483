"""What alarms make of a long import, a retried chunk, a client's mistake or a failover, and of what is not normal.

The expressions are evaluated as "Using metric math" describes them, as far as the template uses them: a metric without
a data point makes an expression empty, unless FILL gives it a value.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.template.conftest import Deployed

Period = dict[str, int]
QUOTA = 1000
FUNCTIONS: dict[str, Any] = {
    "IF": lambda condition, then, otherwise: then if condition else otherwise,
    "FILL": lambda metric, value: value if metric is None else metric,
    "SUM": sum,
    "MAX": max,
    "SERVICE_QUOTA": lambda _metric: QUOTA,
}
QUIET: Period = {}


def is_breaching(alarm: dict[str, Any], period: Period) -> bool:
    """Whether one period is above the threshold; without data it is not (TreatMissingData: notBreaching)."""
    names = dict.fromkeys(each["Id"] for each in alarm["Metrics"])
    expression = next(each["Expression"] for each in alarm["Metrics"] if each["ReturnData"])
    try:
        value = eval(expression.replace(" AND ", " and "), FUNCTIONS | names | period)  # noqa: S307 - the template's own
    except TypeError:
        return False
    return bool(value > alarm["Threshold"])


def goes_off(alarm: dict[str, Any], periods: list[Period]) -> bool:
    """Whether enough of the last periods are breaching at any time."""
    breaching = [is_breaching(alarm, period) for period in periods]
    length = alarm["EvaluationPeriods"]
    enough = alarm.get("DatapointsToAlarm", length)
    return any(sum(breaching[end - length : end]) >= enough for end in range(length, len(breaching) + 1))


LONG_IMPORT, STOPPED = {"waiting": 90_000, "finished": 9_000}, {"waiting": 90_000}
ONE_CRASH, CRASHES, REFUSED = {"m2": 1}, {"m2": 2}, {"calls": 200, "refused": 200}


@pytest.mark.parametrize(
    ("name", "periods"),
    [
        ("ImportsWaitAlarm", [LONG_IMPORT] * 12),
        ("ImportsWaitAlarm", [LONG_IMPORT, *[STOPPED] * 3, LONG_IMPORT]),
        ("ImportsWaitAlarm", [QUIET] * 12),
        ("RequestsWaitAlarm", [{"waiting": 40, "finished": 1}] * 12),
        ("ImportErrorsAlarm", [QUIET, ONE_CRASH, QUIET, QUIET, QUIET]),
        ("ApiFunctionErrorsAlarm", [QUIET, {"failures": 4, "unexpected": 2}, QUIET, QUIET, QUIET]),
        ("OldMessagesAlarm", [{"m2": 6 * 3600}]),
        ("DatabaseStorageAlarm", [QUIET]),
        ("ImportThrottlesAlarm", [QUIET, {"m2": 7}, QUIET]),
        ("ConcurrencyAlarm", [{"used": 100}, {"used": 900}, {"used": 100}]),
        ("ApiRejectionsAlarm", [{"calls": 20, "refused": 20}] * 6),
        ("ApiRejectionsAlarm", [{"calls": 200, "refused": 60}] * 6),
        ("ApiRejectionsAlarm", [QUIET] * 6),
        ("ProductionExecutionsAlarm", [QUIET] * 3),
    ],
)
def test_what_is_normal_is_silent(plain: Deployed, name: str, periods: list[Period]) -> None:
    assert not goes_off(plain.resources[name]["Properties"], periods)


@pytest.mark.parametrize(
    ("name", "periods"),
    [
        ("ImportsWaitAlarm", [LONG_IMPORT, *[STOPPED] * 4]),
        ("CompletionsWaitAlarm", [{"waiting": 1, "finished": 0}] * 4),
        # A chunk that kills its worker comes back every six minutes, a file that takes too long after sixteen.
        ("ImportErrorsAlarm", [QUIET, CRASHES, CRASHES, QUIET]),
        ("ImportErrorsAlarm", [{"m1": 1}, QUIET, {"m1": 1}, QUIET]),
        ("BackgroundErrorsAlarm", [{"m4": 3}, {"m4": 3}, QUIET, QUIET]),
        ("ApiFunctionErrorsAlarm", [QUIET, {"unexpected": 1}, QUIET, {"unexpected": 1}, QUIET]),
        ("ApiFunctionErrorsAlarm", [QUIET, {"failures": 1}, {"failures": 9}, QUIET, QUIET]),
        ("OldMessagesAlarm", [{"m2": 8 * 86_400}]),
        ("OldDeadLettersAlarm", [{"m7": 8 * 86_400}]),
        ("ApiThrottlesAlarm", [{"m5": 1}, QUIET, {"m5": 1}]),
        ("ConcurrencyAlarm", [{"used": 850}] * 3),
        ("ApiRejectionsAlarm", [REFUSED] * 3),
        ("ProductionExecutionsAlarm", [{"m1": 1}]),
        ("ProductionExecutionsAlarm", [{"m3": 1}]),
    ],
)
def test_what_is_not_there_is_reported(plain: Deployed, name: str, periods: list[Period]) -> None:
    assert goes_off(plain.resources[name]["Properties"], periods)
