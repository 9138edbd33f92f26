"""lore hub, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "hub",
    "init | status | grant | revoke | audit",
    "a PostgreSQL database in which the stores of a team meet",
    """\
Every machine has its own store and searches that; 'lore sync NAME' sends what has changed in
it to the hub and merges what others have sent. The driver comes by 'make setup-hub'.""",
    verbs=("init", "status", "grant", "revoke", "audit"),
)
