"""What a volume costs: the expansion of its zip, the list of its files, its rows with links, and its pages."""
