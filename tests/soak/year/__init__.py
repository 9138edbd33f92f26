"""A year of a team with lore, in real processes under a moved clock: ``tests/soak/year.sh``."""
