"""What every piece of queued work shares: its messages, its lock and count-down, and one redrive."""
