"""A stretch of the graph as one HTML file that a browser shows without a network."""
