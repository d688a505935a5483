"""Answers of 500 are counted, because they roll a deployment back; what callers or the database cause is not."""

from __future__ import annotations

import pytest

from core.errors import DatabaseUnavailableError, ExhibitIngestError, NotFoundError
from shell.api.problems import handle_application_error, handle_unexpected_error


def test_an_unexpected_error_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert handle_unexpected_error(ZeroDivisionError("x")).status_code == 500
    assert '"UnexpectedErrors":[1.0]' in capsys.readouterr().out.replace(" ", "")
    assert handle_application_error(ExhibitIngestError("x")).status_code == 500
    assert '"UnexpectedErrors":[1.0]' in capsys.readouterr().out.replace(" ", "")


@pytest.mark.parametrize(("error", "status"), [(DatabaseUnavailableError("x"), 503), (NotFoundError("x"), 404)])
def test_what_a_new_version_does_not_cause_is_not(
    error: ExhibitIngestError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert handle_application_error(error).status_code == status
    assert "UnexpectedErrors" not in capsys.readouterr().out
