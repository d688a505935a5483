"""Invoke functions for queue messages and on schedules, as Lambda's event source mappings and EventBridge do."""
