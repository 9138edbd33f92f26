"""How good the results of a search are, measured on queries with known answers."""
