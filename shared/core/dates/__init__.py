"""Read the text of a cell as a date: the usual notations, others, stated formats, and words for no date."""
