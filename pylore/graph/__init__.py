"""Walks over the graph, and questions about its shape."""
