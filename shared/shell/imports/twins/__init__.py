"""Chunks that an earlier import of the case has read already, byte for byte: they are verified instead of parsed."""
