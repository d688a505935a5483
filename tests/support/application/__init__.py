"""The application with all around it: its handlers in this process or in others, its caches and its log."""
