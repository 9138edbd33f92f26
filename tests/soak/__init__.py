"""Rough treatment, for as long as one likes: ``make soak``. The tests run short forms of it.

Each part returns what it did as counts; ``lost`` and ``broken`` say what must not be.
"""
