"""Send a folder or zip as a volume, have it imported or checked, and print what was found."""
