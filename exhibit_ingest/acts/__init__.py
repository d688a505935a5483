"""Acts on what a stack has: cancel and retry imports, keep profiles; each waits for its outcome and says it."""
