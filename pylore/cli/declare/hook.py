"""lore hook, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "hook",
    "install | uninstall | status | shell | run",
    "bring what is known to agents, commits and prompts at the right moment",
    """\
Agents call hooks when a session begins, when a person has asked, and around their tools.
Then lore gives them a few lines: open tasks, what no longer holds and the best confirmed
records (1200 tokens at the most); records that bear on the question (400); what is known
of a file (300). Nothing comes twice in a session, nothing that matches weakly, and
nothing from a store that you have not made or trusted: see 'lore trust'. What is shown
stands in a run, which 'lore run list' has, and does not count as use.""",
    verbs=("install", "uninstall", "status", "shell", "run"),
)
