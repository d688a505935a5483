"""Zones of a case: where the exhibits are that each chunk created, by control number and by id."""
