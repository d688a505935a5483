"""A durable execution for every production: numbers, files, load files, confirmation, or all of it undone."""

from shell.durable import durable_handler
from shell.producing_ops import produce

lambda_handler = durable_handler(produce)
