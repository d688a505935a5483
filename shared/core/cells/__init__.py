"""What people and programs write into the cells of a load file, and what it means: ids, names, paths, ends of files."""
