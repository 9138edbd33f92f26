"""The soak, ``make soak``: kills, power cuts, full disks, merges and crowds of processes.

Each part returns counts; ``lost`` and ``broken`` count faults. The tests run short forms.
"""
