"""What a case allows by its status and its hold, its former names, and the record of its changes."""
