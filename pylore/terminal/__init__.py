"""Write to a screen or into a pipe."""
