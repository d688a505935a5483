"""Check a load file before it is imported: what needs the whole file, the result, and the run that follows."""
