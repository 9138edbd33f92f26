"""Draw a part of the graph as an HTML file for a browser without network."""
