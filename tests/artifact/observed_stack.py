"""A stack of built functions each of whose requests to AWS is seen, with the id of the function that made it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from sqlalchemy import URL

from local.lambda_runtime.build_artifact import Artifact
from local.stack import LocalStack, StackOptions
from tests.artifact.event_sender import Sender
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World
from tests.support.aws.request_resources import AwsRequest, read_request
from tests.support.servers.provisioned_servers import schema_beside
from tests.support.servers.recording_proxy import RecordingProxy, recording_proxy


@dataclass
class Watched:
    """The functions at work, and what they ask AWS for."""

    sender: Sender
    proxies: tuple[RecordingProxy, ...]

    def requests(self) -> list[AwsRequest]:
        """Everything so far, but for what the test asks for itself; raises UnknownRequestError."""
        found = [read_request(seen) for proxy in self.proxies for seen in proxy.seen]
        return [each for each in found if each.caller != "test"]

    @contextmanager
    def acting_as(self, function: str) -> Iterator[None]:
        """For the block, what this process requests is requested by the function."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", function)
            # It keeps the credentials that it found first.
            patch.setattr(boto3, "DEFAULT_SESSION", None)
            forget_caches()
            yield
        forget_caches()


@contextmanager
def watched(artifact: Artifact, schema_url: URL, state: Path) -> Iterator[Watched]:
    """The built functions, with a schema of their own; this process sees what they see. Nothing is delivered."""
    with schema_beside(schema_url, "watched") as url:
        at = url.render_as_string(hide_password=False)
        with recording_proxy() as stores, recording_proxy() as functions:
            through = {"AWS_ENDPOINT_URL": stores.url, "AWS_ENDPOINT_URL_LAMBDA": functions.url}
            options = StackOptions(
                workers=1, database_url=at, artifact=artifact.folder, environment=through, poll_events=False
            )
            with LocalStack(state, options) as stack:
                stores.target, functions.target = stack.aws.endpoint, stack.lambda_client.meta.endpoint_url
                with seen_here(stack) as environment:
                    world = World(environment["BUCKET"], environment)
                    yield Watched(Sender(stack, world), (stores, functions))
                    world.engine.dispose()


@contextmanager
def seen_here(stack: LocalStack) -> Iterator[dict[str, str]]:
    """The stack's environment is this process's too."""
    # Tests send to the queue of volumes' work, whose URL few functions have.
    url = stack.environment("ProcessVolumeFunction")["VOLUME_WORK_QUEUE_URL"]
    found = {**stack.environment("StartProductionFunction"), "VOLUME_WORK_QUEUE_URL": url}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in found.items():
            patch.setenv(name, value)
        # Nothing of this process may be traced: there is no function around it.
        patch.setenv("POWERTOOLS_TRACE_DISABLED", "1")
        forget_caches()
        yield found
    forget_caches()
