"""From a query to results: legs, fusion, expansion, order."""
