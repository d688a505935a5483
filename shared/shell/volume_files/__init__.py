"""Count what imports of volumes find of the volumes' files, and list what nothing names."""
