"""Export the documents of a case, their pages, tags or history to one file, in parts that a killed worker repeats."""
