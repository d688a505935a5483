"""What the other packages of imports stand on: the rows of an import, its progress, its findings and its options."""
