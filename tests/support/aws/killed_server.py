"""The local S3 and SQS with the template's resources, which can be killed and started again."""

from __future__ import annotations

from pathlib import Path

import psutil

from local.services.aws import LocalAws
from local.services.processes import Processes
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from local.time_scale import TimeScale


class KilledServer:
    """A server whose objects and messages are in a folder; `close` in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.template = Template.load(DEFAULT_TEMPLATE)
        self.bucket = next(iter(self.template.buckets.values())).name
        self.start()

    def start(self) -> None:
        """Start the server, with what an earlier one has left."""
        self._processes = Processes()
        self.aws = LocalAws(self._processes, self.folder / "aws.log", TimeScale(), self.folder / "objects")
        self.aws.launch()
        self.aws.create_resources(self.template)
        self.aws.await_start()

    def restart(self) -> None:
        """Kill the server (SIGKILL) and start it again."""
        self.close()
        self.start()

    def close(self) -> None:
        """Kill the server."""
        self._processes.stop()

    @property
    def process(self) -> psutil.Process:
        """The process of the server."""
        return next(each for each in psutil.Process().children() if "local.services.moto_server" in each.cmdline())

    def list_files(self) -> list[Path]:
        """Return the files with bytes of objects, drafts among them."""
        places = (self.folder / "objects" / name for name in ("blobs", "drafts"))
        return [path for place in places for path in place.rglob("*") if path.is_file()]

    def queue_url(self, queue: str) -> str:
        """Return the URL of a queue by its logical id."""
        return self.template.queue_url(queue, self.aws.endpoint)
