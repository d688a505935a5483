"""Work on volumes for SQS messages: list their objects, expand their zips, hash their files, delete them."""

from __future__ import annotations

from shell.lambda_handlers import sqs_handler
from shell.volumes.deletion import delete_volume_part
from shell.volumes.hashing import hash_unit
from shell.volumes.listing import list_volume
from shell.volumes.units import expand_unit
from shell.work.messages import DeletionMessage, ExpansionMessage, HashingMessage, ListingMessage
from shell.work.reading import Operations, dispatch

OPERATIONS: Operations = {
    ListingMessage: lambda message: list_volume(message.volume_id, message.generation),
    ExpansionMessage: lambda message: expand_unit(message.volume_id, message.unit_no, message.generation),
    HashingMessage: lambda message: hash_unit(message.volume_id, message.unit_no, message.generation),
    DeletionMessage: lambda message: delete_volume_part(message.volume_id),
}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.volume_work_queue_url)
