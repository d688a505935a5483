"""What releases have written and others read: its forms, and the lines that were recorded, for ever."""
