"""One file with everything of a stack of this machine: written while it runs, checked and restored as a whole."""
