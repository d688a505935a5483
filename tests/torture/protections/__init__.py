"""The protections of the application, each with a switch that turns it off in a test build."""
