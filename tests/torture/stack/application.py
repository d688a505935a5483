"""The whole application in a test build, with everything around it that a seed may break."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.errors import LocalError
from local.services.processes import build_child_environment
from local.stack import LocalStack, StackOptions
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.template.reader import Template
from local.time_scale import TimeScale
from tests.support.servers.redis_server import RedisServer, private_redis
from tests.torture.faults import injection_points
from tests.torture.faults.controller import FaultController
from tests.torture.protections.registry import SWITCHES
from tests.torture.stack import worker
from tests.torture.stack.cells import Cells, create_second_schema
from tests.torture.stack.database_server import TorturedDatabase
from tests.torture.stack.subscriber import Subscriber
from tests.torture.stack.unordered_queues import UnorderedQueues

# Half an hour is some seconds; work takes its time, also on a busy machine.
SCALE = TimeScale(factor=0.002, shortest_timeout=10.0)
CHUNK_ROWS = 6
# So that most files are split with checkpoints; `worker` makes the blocks small.
CHECKPOINT_CHUNKS = 2


@dataclass
class TortureStack:
    """What is running."""

    stack: LocalStack
    database: TorturedDatabase
    redis: RedisServer
    controller: FaultController
    delivery: UnorderedQueues
    subscriber: Subscriber
    # The tenants of the seeds that held, who have nothing in progress and can move.
    quiet: list[str] = field(default_factory=list)

    @property
    def cells(self) -> Cells:
        """This stack and the one into which tenants move."""
        return Cells(self.database, self.stack)

    def dead_letters(self) -> dict[str, int]:
        """Messages in queues that no function reads: what was given up, by queue."""
        read = {source.queue for source in self.stack.template.event_sources}
        found = {name: self._count(name) for name in self.stack.template.queues if name not in read}
        return {name: count for name, count in found.items() if count}

    def set_tenant_status(self, tenant: str, status: str) -> bool:
        """Set the status of a tenant by the operator's tool; return whether that said that it did."""
        given = ("--database", self.database.url, "set-status", tenant, status, "--reason", "The torture goes on.")
        process = self.start_tenant_tool(*given)
        process.communicate()
        return process.returncode == 0

    def start_tenant_tool(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the operator's tool; what it writes is read from its standard output."""
        environment = {
            **build_child_environment(),
            **self.stack.aws.environment(),
            "PYTHONPATH": os.pathsep.join(_roots()),
        }
        command = [sys.executable, "-m", "tools.tenant", *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def _count(self, queue: str) -> int:
        url = self.stack.queue_url(queue)
        answer = self.stack.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return int(answer["ApproximateNumberOfMessages"]) + int(answer["ApproximateNumberOfMessagesNotVisible"])


@contextmanager
def start_stack(directory: Path, *, without: Sequence[str] = (), short_leases: bool = False) -> Iterator[TortureStack]:
    """Everything up, for the block, in a directory of its own; `without` names protections that are off."""
    with ExitStack() as up:
        database = up.enter_context(TorturedDatabase(directory / "database"))
        redis = up.enter_context(private_redis())
        controller = up.enter_context(FaultController())
        delivery = UnorderedQueues()
        _migrate(database)
        _weaken(database, without)
        create_second_schema(database)
        stack = up.enter_context(
            LocalStack(
                directory / "stack",
                StackOptions(
                    workers=2,
                    time_scale=SCALE,
                    database_url=database.url,
                    environment=_environment(controller, redis, without, short_leases),
                    delivery=delivery,
                    runtime_module=worker.__name__,
                ),
            )
        )
        topic = stack.environment("PublishOutboxFunction")["EVENTS_TOPIC_ARN"]
        subscriber = up.enter_context(Subscriber(stack.sns, stack.sqs, topic, database))
        yield TortureStack(stack, database, redis, controller, delivery, subscriber)


def _migrate(database: TorturedDatabase) -> None:
    """Make the tables as the deployment does, without its function's time-out, which is shortened here."""
    queues = ("IMPORT_REQUESTS", "IMPORT_CHUNKS", "IMPORT_COMPLETIONS", "OUTBOX_WAKE", "PRODUCTION_CHECKS")
    unused = dict.fromkeys(("BUCKET", "EVENTS_TOPIC_ARN", *(f"{queue}_QUEUE_URL" for queue in queues)), "none")
    given = {**os.environ, **unused, "DATABASE_URL": database.url, "PYTHONPATH": os.pathsep.join(_roots())}
    code = "import migrate_database; migrate_database.lambda_handler({'RequestType': 'Local'}, None)"
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LocalError(f"the tables could not be made: {done.stderr[-2000:]}")


def _weaken(database: TorturedDatabase, without: Sequence[str]) -> None:
    """Make plain indexes of the unique keys that would save what is lost without a protection."""
    for key in [key for name in without for key in SWITCHES[name].keys]:
        table, _, index = key.partition(".")
        columns = database.query(
            "SELECT column_name FROM information_schema.statistics WHERE table_schema = DATABASE() "
            "AND table_name = :table AND index_name = :index ORDER BY seq_in_index",
            table=table,
            index=index,
        )
        listed = ", ".join(row[0] for row in columns)
        database.query(f"ALTER TABLE {table} DROP INDEX {index}, ADD INDEX {index} ({listed})")


def _roots() -> list[str]:
    return [*map(str, Template.load(DEFAULT_TEMPLATE).import_roots), str(REPOSITORY)]


def _environment(
    controller: FaultController, redis: RedisServer, without: Sequence[str], short_leases: bool
) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(_roots()),
        "REDIS_URL": redis.url,
        "CHUNK_ROWS": str(CHUNK_ROWS),
        "SPLIT_CHECKPOINT_CHUNKS": str(CHECKPOINT_CHUNKS),
        "DB_DEADLOCK_RETRY_DELAY": "0.02",
        injection_points.CONTROLLER: controller.address,
        worker.WITHOUT: ",".join(without),
        worker.SHORT_LEASES: "1" if short_leases or any(SWITCHES[name].short_leases for name in without) else "",
    }
