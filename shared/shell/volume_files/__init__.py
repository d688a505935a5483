"""Find the files of a volume that paths in load files mean, count what is missing, and list what nothing names."""
