"""What goes in and out of a store: JSON lines, Markdown, drawings of the graph."""
