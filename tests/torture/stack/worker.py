"""A worker of the test build: the application as it is, with points at which it can be met, and without what is off.

Run in place of AWS's runtime client, to which it hands over; its one argument is the handler. The durations that the
application keeps as constants are on the torture's scale: what the template says goes through the stack's time scale;
leases and pauses stand in the code. Here an hour is some seconds, in the same order of lengths: a publisher's lease is
longer than a call, a claim's longer than a request.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta

from tests.torture.faults.injection_points import CONTROLLER, Points, install
from tests.torture.protections.registry import turn_off
from tests.torture.protections.switch import instead, there

WITHOUT = "TORTURE_WITHOUT"
SHORT_LEASES = "TORTURE_SHORT_LEASES"
LEASE_S = 1.0
SCALED = {
    "shell.outbox.leases:LEASE_S": 3,
    "shell.outbox.leases:LONGEST_PAUSE_S": 1,
    "shell.outbox.relay:SAFE_S": 1.0,
    "shell.deadline:MARGIN_S": 0.5,
    "shell.utils.idempotency:MARGIN_S": 0.5,
    # The time-out of the function, as the stack has it.
    "shell.imports.start:SPLITTING_S": 10,
    "shell.imports.failed_imports:FAILING_S": 3,
    "shell.utils.redis_client:OPEN_S": 0.3,
    "shell.tenants.first_use:MAX_AGE_S": 0.3,
    # A purge has the turn for a second; its lease is shorter than some stops of its worker.
    "shell.purges.run:TURN_S": 1,
    "shell.purges.run:LEASE_S": 3,
    "shell.purges.run:MARGIN_S": 0.5,
    "shell.purges.run:PRODUCTION_PAUSE_S": 1,
    "shell.purges.run:SKEW_S": 1,
    # These two are longer than the stack's time-out of an invocation.
    "shell.purges.run:LONGEST_INVOCATION_S": 11,
    "shell.productions.executions:QUIET_FOR": timedelta(seconds=12),
}


# After each of them a split can write a checkpoint.
BLOCK_BYTES = 400
# So small that a volume of a few files has several pages of its listing, units, chunks of documents, and a large file.
SMALL = {
    "shell.aws.object_versions:PAGE": 12,
    "core.volumes.zip_directory:UNIT_ENTRIES": 5,
    "shell.volumes.units:LARGEST_PUT": 2_000,
}
CHUNK_DOCUMENTS = 4
# The life of a URL and the wait for what arrives late, in whole seconds, as a purge has them; no upload takes as long.
PURGES, OF_PURGES = "PurgeCasesFunction", {"UPLOAD_URL_SECONDS": "1", "PURGE_LAST_LOOK_SECONDS": "1"}


def main() -> None:
    """Become a worker."""
    # Here, for only workers need a compiled client.
    from awslambdaric.__main__ import main as run

    if os.environ["AWS_LAMBDA_FUNCTION_NAME"] == PURGES:
        os.environ |= OF_PURGES
    _quicken()
    for name in filter(None, os.environ.get(WITHOUT, "").split(",")):
        turn_off(name)
    install(Points(os.environ[CONTROLLER], os.environ["AWS_LAMBDA_FUNCTION_NAME"]))
    run(sys.argv)


def _quicken() -> None:
    """Shorten them, in this process and for good.

    In a run with short leases a claim of an Idempotency-Key ends while its owner may be at work, as it does where a
    host was frozen: only the owner's fence then keeps two from the effect.
    """
    for place, seconds in SCALED.items():
        instead(place, seconds)
    instead("shell.imports.splitting.split:SLICE_BYTES", BLOCK_BYTES)
    for place, size in SMALL.items():
        instead(place, size)
    limits = there("core.image_load_file.limits:LIMITS")
    # Frozen, and held by name in several modules.
    object.__setattr__(limits, "chunk_documents", CHUNK_DOCUMENTS)
    if os.environ.get(SHORT_LEASES):
        instead("shell.utils.idempotency:_lease_s", lambda: LEASE_S)


if __name__ == "__main__":
    main()
