"""The soak, ``make soak``: kills, power cuts, full disks, merges and crowds of processes.

Each part returns a dictionary; ``lost`` and ``broken`` are faults. The tests run short forms.
"""
