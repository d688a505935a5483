"""Whether a caller learns or changes anything that belongs to another tenant, case or role."""
