"""What an import must leave, computed without the application: outcomes of rows, error files, image load files."""
