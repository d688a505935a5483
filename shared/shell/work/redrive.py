"""Dead letters: send a message back once, in case of an outage, and give up what it names the second time.

The redrive is a member of the message, not of a row: a message that is delivered twice is still a first one.
"""

from __future__ import annotations

from collections.abc import Callable

from shell.aws.sqs import send_messages
from shell.settings import settings
from shell.work.messages import RedrivableMessage


def send_back(
    message: RedrivableMessage, queue_url: str, find_tenant: Callable[[], str | None], *, again: bool = False
) -> bool:
    """Send a dead letter back to its queue, unless it was before; return False then: the caller gives it up.

    With `again`, it is sent back once more. `find_tenant` reads the database, or notes there that the message is sent
    back: while the database is down it raises, nothing is sent, and the message stays in the dead-letter queue. Raises
    QueueUnavailableError.
    """
    if message.redrive and not again:
        return False
    tenant_id = find_tenant()
    send_messages(queue_url, [message.redriven()], settings().redrive_delay_seconds, tenant_id)
    return True
