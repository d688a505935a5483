"""List what users and the application did, newest first."""
