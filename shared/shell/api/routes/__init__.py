"""Routes that a handler adds to its application: those of one subject, where a handler has several."""
