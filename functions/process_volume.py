"""Work on volumes for SQS messages: list their objects, expand their zips, hash their files, delete them."""

from __future__ import annotations

from typing import Any

from shell.lambda_handlers import sqs_handler
from shell.volumes.deletion import delete_volume_part
from shell.volumes.hashing import hash_unit
from shell.volumes.listing import list_volume
from shell.volumes.messages import Task
from shell.volumes.units import expand_unit


def handle(message: dict[str, Any]) -> None:
    """Do what the message asks for."""
    volume_id, generation = int(message["volume_id"]), int(message["generation"])
    if message["task"] == Task.EXPAND:
        expand_unit(volume_id, int(message["unit_no"]), generation)
    elif message["task"] == Task.HASH:
        hash_unit(volume_id, int(message["unit_no"]), generation)
    elif message["task"] == Task.DELETE:
        delete_volume_part(volume_id)
    else:
        list_volume(volume_id, generation)


lambda_handler = sqs_handler(handle, lambda config: config.volume_work_queue_url)
