"""Answers of 500 are counted, because they roll a deployment back; what callers or the database cause is not."""

from __future__ import annotations

import pytest

from core.errors import DatabaseUnavailableError, ExhibitIngestError, NotFoundError, SettingsError
from shell.api.problems import handle_application_error, handle_unexpected_error
from shell.lambda_handlers import event_handler


def test_an_unexpected_error_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert handle_unexpected_error(ZeroDivisionError("x")).status_code == 500
    assert '"UnexpectedErrors":[1.0]' in capsys.readouterr().out.replace(" ", "")
    assert handle_application_error(ExhibitIngestError("x")).status_code == 500
    assert '"UnexpectedErrors":[1.0]' in capsys.readouterr().out.replace(" ", "")


def test_what_only_another_deployment_corrects_is_counted_wherever_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    def refused(_event: dict[str, object]) -> None:
        raise SettingsError("the key refuses the function")

    with pytest.raises(SettingsError):
        event_handler(refused)({}, None)
    assert handle_application_error(SettingsError("x")).status_code == 500
    assert capsys.readouterr().out.replace(" ", "").count('"SettingsErrors":[1.0]') == 2
    with pytest.raises(DatabaseUnavailableError):
        event_handler(unavailable)({}, None)
    assert "SettingsErrors" not in capsys.readouterr().out, "an outage ends by itself"


def unavailable(_event: dict[str, object]) -> None:
    raise DatabaseUnavailableError()


@pytest.mark.parametrize(("error", "status"), [(DatabaseUnavailableError("x"), 503), (NotFoundError("x"), 404)])
def test_what_a_new_version_does_not_cause_is_not(
    error: ExhibitIngestError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert handle_application_error(error).status_code == status
    assert "UnexpectedErrors" not in capsys.readouterr().out
