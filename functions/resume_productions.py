"""Resume productions whose execution ended too early, on a schedule."""

from shell.lambda_handlers import event_handler
from shell.productions.executions import resume_productions

lambda_handler = event_handler(resume_productions)
