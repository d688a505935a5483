"""The stacks that the command knows: their names and addresses, kept in one file of the user."""
