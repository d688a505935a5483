"""Import one chunk of a load file: read, coerce and write its rows in one transaction."""
