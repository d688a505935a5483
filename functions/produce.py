"""Make a production in a durable execution: numbers, files, load files and confirmation, or roll all of it back."""

from shell.aws.durable_execution import durable_handler
from shell.productions.saga import produce

lambda_handler = durable_handler(produce)
