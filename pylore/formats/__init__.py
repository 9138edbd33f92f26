"""Import and export: JSON lines, Markdown, drawings of the graph."""
