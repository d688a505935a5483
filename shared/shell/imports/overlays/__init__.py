"""What the rows of an overlay change, found for many rows at once."""
