"""One file: from its text to facts."""
