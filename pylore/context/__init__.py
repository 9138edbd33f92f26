"""From results to something to read: what a person reads and a model is given."""
