"""The options of a local stack, and the default paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local.event_sources.delivery import Delivery, InOrderDelivery
from local.lambda_runtime.forking import RUNTIME_CLIENT
from local.time_scale import TimeScale

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_TEMPLATE = REPOSITORY / "template.yaml"


@dataclass(frozen=True)
class StackOptions:
    """How a local stack runs the application.

    `workers` is the limit per function. `database_url` must name a schema, which is created if it is missing; without
    it a private server in the state directory is used, `keep_database` leaves that server running, and `database_tcp`
    has it listen on a port. `environment` overrides the template's variables. `api_port` 0 means any free port.
    `artifact` is the output folder of `make lambda`: the functions then run from the build, under AWS's runtime
    interface emulator, and the built template replaces `template`. Without `poll_events` no queue is polled and no
    schedule runs, so functions run only when they are invoked. `minimal` starts only what a command needs: no Redis,
    and the engine of the durable functions at their first request. `migrations` is a folder of Alembic
    revisions: if the database is at the newest, the functions that run on a deployment are not invoked. `delivery`
    decides how messages are delivered. `runtime_module` replaces AWS's runtime client for handlers that run from
    source, and must run it in the end.
    """

    workers: int = 2
    time_scale: TimeScale = field(default_factory=TimeScale)
    database_url: str | None = None
    template: Path = DEFAULT_TEMPLATE
    environment: Mapping[str, str] = field(default_factory=dict)
    keep_database: bool = False
    database_tcp: bool = False
    api_port: int = 0
    artifact: Path | None = None
    poll_events: bool = True
    minimal: bool = False
    migrations: Path | None = None
    delivery: Delivery = field(default_factory=InOrderDelivery)
    runtime_module: str = RUNTIME_CLIENT
