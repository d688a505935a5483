"""The smallest size lets its database pause: without work, nothing uses it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE
from local.time_scale import TimeScale
from samples.generator import generate
from samples.spec import Spec

# Ten minutes of the deployed stack are 12 seconds.
SCALE = TimeScale(0.02, shortest_timeout=60)
TEN_MINUTES_S = SCALE.scale_wait(600)
# In the order of the alphabet.
STATUS = "SHOW GLOBAL STATUS WHERE variable_name IN ('Connections', 'Questions')"


def small(folder: Path, schedule: str) -> Path:
    """The template with Size small as the default, and with this schedule for what is done once a day."""
    text = DEFAULT_TEMPLATE.read_text("utf-8")
    for old, new in (("    Default: standard\n", "    Default: small\n"), ("rate(1 day)", schedule)):
        assert text.count(old) == 1
        text = text.replace(old, new)
    for name in ("functions", "layers", "shared"):
        (folder / name).symlink_to(DEFAULT_TEMPLATE.parent / name)
    path = folder / "template.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def statements(stack: LocalStack) -> tuple[int, int]:
    """The statements and connections of others in ten minutes after an import, its events and its reminders."""
    stack.s3.put_object(
        Bucket=stack.bucket, Key="imports/tenant/Case/upload/load.dat", Body=generate(Spec(rows=20)).data
    )
    engine = create_engine(stack.database_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as watching:
        imported = "SELECT COUNT(*) FROM imports WHERE status LIKE 'completed%%'"
        until = time.monotonic() + 600
        while not (watching.exec_driver_sql(imported).scalar() and _is_at_rest(stack)):
            assert time.monotonic() < until, "the import and its reminders ended"
            time.sleep(0.2)
        before = [int(row[1]) for row in watching.exec_driver_sql(STATUS)]
        time.sleep(TEN_MINUTES_S)
        after = [int(row[1]) for row in watching.exec_driver_sql(STATUS)]
    engine.dispose()
    # One of the statements is the observer's own.
    return after[1] - before[1] - 1, after[0] - before[0]


def _is_at_rest(stack: LocalStack) -> bool:
    """Whether no work is left and no reminder; one whose delay ends between two of the questions is work."""
    return not _reminders(stack) and stack.is_idle() and not _reminders(stack)


def _reminders(stack: LocalStack) -> int:
    urls = [stack.queue_url(name) for name, queue in stack.template.queues.items() if queue.has_reminders]
    answers = [stack.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]) for url in urls]
    return sum(int(answer["Attributes"]["ApproximateNumberOfMessagesDelayed"]) for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(("schedule", "rests"), [("rate(1 day)", True), ("rate(1 minute)", False)])
def test_an_idle_stack_of_the_smallest_size_does_not_use_its_database(
    tmp_path: Path, schedule: str, rests: bool
) -> None:
    options = StackOptions(template=small(tmp_path, schedule), time_scale=SCALE)
    with LocalStack(tmp_path / "state", options) as stack:
        found = statements(stack)
    print(f"{schedule}: {found[0]} statements and {found[1]} connections in ten minutes")
    assert (found == (0, 0)) is rests
