"""Faults on purpose: connections that lose statements, and hooks at each step of the application."""
