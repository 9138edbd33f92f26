"""A year of a team with lore, in some minutes: ``tests/soak/year.sh``.

Real processes under a clock that is moved do each day's work; ``__main__`` says which checks.
"""
