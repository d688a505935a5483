"""Resume productions whose execution ended too early, every few minutes while any is open."""

from shell.lambda_handlers import event_handler
from shell.productions.executions import resume_productions

lambda_handler = event_handler(resume_productions)
