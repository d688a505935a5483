"""A worker of the test build: the application as it is, with points at which it can be met, and without what is off.

Run in place of AWS's runtime client, to which it hands over; its one argument is the handler.
"""

from __future__ import annotations

import os
import sys

from tests.torture import pace, points
from tests.torture.switches import turn_off

WITHOUT = "TORTURE_WITHOUT"


def main() -> None:
    """Become a worker."""
    # Here, for only workers need a compiled client.
    from awslambdaric.__main__ import main as run

    pace.quicken()
    for name in filter(None, os.environ.get(WITHOUT, "").split(",")):
        turn_off(name)
    points.install(points.Points(os.environ[points.CONDUCTOR], os.environ["AWS_LAMBDA_FUNCTION_NAME"]))
    run(sys.argv)


if __name__ == "__main__":
    main()
