"""A schedule: productions whose execution ended before they did are gone on with."""

from shell.invocation import plain_handler
from shell.production_start_ops import resume_productions

lambda_handler = plain_handler(resume_productions)
