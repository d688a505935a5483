"""A chunk that fails in every try ends its import, with the waits of the template in scaled time."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from tests.support.servers.provisioned_servers import SERVER, drop_schema, fresh_schema

FACTOR = 0.01
CONFIGURED_S = 490
ROWS = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"
# The hash that the split registers is never that of the bytes.
POISON = "CREATE TRIGGER poison BEFORE INSERT ON import_chunks FOR EACH ROW SET NEW.sha256 = REPEAT('0', 32)"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[LocalStack]:
    """The application, with a hundredth of the waits."""
    schema = fresh_schema(os.environ[SERVER], f"poison_{secrets.token_hex(4)}")
    url = schema.render_as_string(hide_password=False)
    with LocalStack(
        tmp_path, StackOptions(time_scale=TimeScale(FACTOR, 60), database_url=url, minimal=True)
    ) as running:
        yield running
    drop_schema(schema)


@pytest.mark.slow
def test_a_chunk_that_fails_in_every_try_ends_its_import(real: LocalStack) -> None:
    assert real.database_url is not None
    engine = create_engine(real.database_url)
    with engine.begin() as connection:
        connection.execute(text(POISON))
    real.s3.put_object(Bucket=real.bucket, Key="imports/tenant/Case/poison/load.csv", Body=ROWS)
    began = time.monotonic()
    real.wait_until_idle()
    print(f"ended after {(time.monotonic() - began) / FACTOR:.0f} s of the template's time")
    with engine.connect() as connection:
        found = connection.execute(text("SELECT status, rejected FROM imports")).all()
        tried = connection.execute(text("SELECT status, redrives FROM import_chunks")).all()
    engine.dispose()
    assert (list(map(tuple, found)), list(map(tuple, tried))) == ([("completed_with_rejections", 2)], [("failed", 1)])
    # Less than the waits would mean that tries are missing.
    assert (time.monotonic() - began) / FACTOR >= CONFIGURED_S
