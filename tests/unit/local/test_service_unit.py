"""The unit runs the command of this installation, and keeps no password."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from local.errors import LocalError
from local.service_unit import describe_unit, install_unit

COMMAND = ["/opt/my files/100%/exhibit-ingest", "serve", "--port", "8700"]


def test_the_unit_is_written_where_systemd_looks_for_those_of_the_user(tmp_path: Path) -> None:
    unit = describe_unit(COMMAND, Path("/opt/my files"), {"HOME": str(tmp_path)})
    install_unit(unit)
    assert unit.path == tmp_path / ".config" / "systemd" / "user" / "exhibit-ingest.service"
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(unit.path)
    service = dict(parser["Service"])
    assert service["ExecStart"] == '"/opt/my files/100%%/exhibit-ingest" "serve" "--port" "8700"'
    assert (service["KillSignal"], service["UMask"]) == ("SIGINT", "0077")
    assert parser["Install"]["WantedBy"] == "default.target"


def test_the_folder_of_the_configuration_is_the_one_that_is_set(tmp_path: Path) -> None:
    unit = describe_unit(COMMAND, tmp_path, {"HOME": "/srv/me", "XDG_CONFIG_HOME": str(tmp_path)})
    assert unit.path.is_relative_to(tmp_path)


def test_characters_with_a_meaning_are_written_as_themselves(tmp_path: Path) -> None:
    unit = describe_unit(['/a"b\\c$d'], tmp_path, {"HOME": "/srv/me"})
    assert 'ExecStart="/a\\"b\\\\c$$d"\n' in unit.text


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"HOME": "/h", "DATABASE_URL": "mysql+pymysql://me:secret@db/a"}, "DATABASE_URL is set"),
        ({}, "HOME is not set"),
    ],
)
def test_what_cannot_be_in_a_unit_is_refused(environment: dict[str, str], said: str) -> None:
    with pytest.raises(LocalError, match=said) as refused:
        describe_unit(COMMAND, Path("/"), environment)
    assert "secret" not in str(refused.value)
