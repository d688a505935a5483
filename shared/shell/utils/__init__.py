"""Mechanisms, one a file; they know nothing of exhibits and never import an ops module."""
