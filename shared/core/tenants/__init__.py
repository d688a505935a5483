"""Tenants: what a status allows, and limits."""
