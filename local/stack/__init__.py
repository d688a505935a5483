"""Run the whole application on this machine."""

from local.stack.local_stack import LocalStack
from local.stack.options import StackOptions

__all__ = ["LocalStack", "StackOptions"]
