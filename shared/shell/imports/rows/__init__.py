"""Convert the records of a load file into rows as they are stored: values that fit their columns, warnings, hashes."""
