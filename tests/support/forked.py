"""Run work in a bounded child process, forked from a process that has imported lore."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pylore
from pylore.embed.static import StaticEmbedder


def preload() -> None:
    """Import the modules that every forked process needs."""
    for module in pkgutil.walk_packages(pylore.__path__, "pylore."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    StaticEmbedder().embed(["words"])  # makes the table of pieces, where there is none
    gc.freeze()  # a child that collects garbage would copy every page


def in_child(work: Callable[[], object], memory: int, seconds: int) -> Any:
    """Return the result of ``work`` as JSON; limit the child's additional bytes and seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            limit_memory(memory)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            signal.alarm(seconds)
            found = work()
            with open(writer, "w", encoding="utf-8") as file:
                json.dump(found, file)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        text = file.read()
    _, ended = os.waitpid(child, 0)
    assert ended == 0, f"ended by {ended}: too much time or memory, or an error"
    return json.loads(text)


def limit_memory(more: int) -> None:
    """Limit the address space of this process and of child processes, if a limit is given."""
    held = Path("/proc/self/statm")
    if held.exists():
        pages = int(held.read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more,) * 2)
