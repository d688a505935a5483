"""The messages that wait for a function."""

from __future__ import annotations

from local.services.aws import AwsClients
from local.template.model import sort_dead_letter_queues_last
from local.template.reader import Template

DELAYED = "ApproximateNumberOfMessagesDelayed"
COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", DELAYED)


def count_waiting(template: Template, aws: AwsClients) -> dict[str, int]:
    """Return the number of messages, visible or not, in each queue that a function consumes and that is not empty.

    Delayed reminders do not count, just as a schedule does not.
    """
    consumed = {source.queue for source in template.event_sources}
    # A message that moves to a dead-letter queue counted earlier would be in neither count.
    order = sort_dead_letter_queues_last(template.queues.values())
    counts = {queue: _count(template, aws, queue) for queue in order if queue in consumed}
    return {queue: count for queue, count in counts.items() if count}


def _count(template: Template, aws: AwsClients, queue: str) -> int:
    url = template.queue_url(queue, aws.endpoint)
    # "All" returns one snapshot; attributes requested by name would be counted at different times.
    response = aws.queues.call("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"])
    ignored = {DELAYED} if template.queues[queue].has_reminders else set[str]()
    return sum(int(value) for name, value in response["Attributes"].items() if name in {*COUNTS} - ignored)
