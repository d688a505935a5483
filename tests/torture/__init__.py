"""What tries to break every promise of the application, and counts what it did."""
