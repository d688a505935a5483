"""Ctrl-C while the private database is being created ends the creation, which takes some seconds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from local.errors import DatabaseServerError
from local.services.mysql import PrivateServer
from local.services.mysql_binaries import Binaries
from tests.support.database.server_status import wait_until

# Stands for the server that creates its data directory, and never ends by itself.
_NEVER_ENDING = '#!/bin/sh\necho $$ > "{place}"\nexec sleep 1000\n'


def test_a_creation_that_is_abandoned_ends_with_its_program(tmp_path: Path) -> None:
    program, place = tmp_path / "mysqld", tmp_path / "pid"
    program.write_text(_NEVER_ENDING.format(place=place))
    program.chmod(0o755)
    server = PrivateServer(tmp_path / "database", binaries=Binaries(program, None))
    with ThreadPoolExecutor(1) as thread:
        started = thread.submit(server.start)
        wait_until(lambda: place.exists() and place.read_text().endswith("\n"), "the creation")
        pid = int(place.read_text())
        assert psutil.pid_exists(pid)
        assert not started.done()
        server.abandon()
        with pytest.raises(DatabaseServerError, match="failed"):
            started.result()
    assert not psutil.pid_exists(pid)
    assert not (tmp_path / "database" / "data").exists()
