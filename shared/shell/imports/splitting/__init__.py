"""Split an upload into chunks in one pass, with checkpoints; find duplicate ids; register the chunks."""
