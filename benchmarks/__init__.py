"""Measurements that decisions rest on; nothing here is deployed."""
