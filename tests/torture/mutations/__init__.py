"""Damaged files, and whether each is refused with a reason or every record of it is accounted for."""
