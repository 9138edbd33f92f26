"""What lore knows, for the llm command: the fragment ``lore:QUESTION``, and tools that read.

All of it by starting ``lore``: this package knows its command line and nothing else of it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import llm

TIMEOUT = 60
"""Seconds that ``lore`` may take."""
BUDGET = 2000
"""Tokens of a context."""


@llm.hookimpl
def register_fragment_loaders(register: Callable[..., None]) -> None:
    """Makes ``llm -f lore:QUESTION`` known."""
    register("lore", fragment)


@llm.hookimpl
def register_tools(register: Callable[..., None]) -> None:
    """Makes the tools known, by the names of their functions."""
    for tool in (lore_search, lore_show, lore_context):
        register(tool)


def fragment(question: str) -> llm.Fragment:
    """What lore knows of a question, as a text with ids."""
    return llm.Fragment(lore_context(question), source=f"lore:{question}")


def lore_context(question: str, budget: int = BUDGET) -> str:
    """What the knowledge graph of this project knows of a question: decisions, lessons, facts and
    code that bear on it, with ids, in at most ``budget`` tokens."""
    return run("context", "--as", "prompt", "--budget", str(int(budget)), "--", question)


def lore_search(query: str, limit: int = 5) -> str:
    """Searches the knowledge graph of this project: JSON with id, type, title, snippet, score."""
    return run("search", "--json", "--limit", str(int(limit)), "--", query)


def lore_show(id: str) -> str:
    """One record of the knowledge graph, by its id: JSON with its text and its links."""
    return run("show", "--json", "--", id)


def run(*words: str) -> str:
    """What ``lore`` prints.

    Raises:
        ValueError: it cannot be started, fails, or takes too long: the last line that it said.
    """
    try:
        done = subprocess.run(
            [_program(), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"lore did not answer within {TIMEOUT} s") from None
    except OSError as error:
        raise ValueError(f"lore cannot be started: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(said[-1] if said else f"lore failed with exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def _program() -> str:
    """``lore`` on the PATH, whose relative entries may lead to what came with a clone."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "lore")
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise ValueError("there is no lore on the PATH: install it")
