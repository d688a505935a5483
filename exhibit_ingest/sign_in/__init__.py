"""Sign in to a stack: by its hosted page, by a code of another device, by the key of a local link, or by a token."""
