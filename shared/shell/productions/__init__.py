"""Run a production to its end or undo it as a whole: Bates numbers, volume files, confirmation, notification."""
