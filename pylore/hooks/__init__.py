"""What the events of coding agents and of git get: a few lines of what is known, or nothing."""
