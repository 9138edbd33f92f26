"""What goes to a screen or into a pipe."""
