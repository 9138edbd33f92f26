"""A year of a team with lore, in some minutes: ``make year``.

Real processes under a clock that is moved do each day's work; ``__main__`` says which checks.
"""
