"""Event plugins at work: those of one event side by side, with the same time."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from .plugin_process import (
    LATE,
    MOST_OUTPUT,
    PluginProcess,
    Refused,
    environment,
    find,
    interruptible,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.settings import Settings


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def run_all(
    plugins: Sequence[str],
    event: str,
    rows: Iterable[Mapping[str, object]],
    settings: Settings,
    store: str = "",
    root: str = "",
) -> list[tuple[str, str]]:
    """Runs plugins of one event; those that failed, each with why, in the order that was given.

    Each gets the rows on stdin, a line of JSON each, with the name of the event. What they print
    on stdout is thrown away. ``store`` and ``root`` are as ``Events`` has them.
    """
    ours = {"LORE_STORE": store} if store else {}
    lines = "".join(_COMPACT.encode({"event": event, **row}) + "\n" for row in rows).encode(
        errors="replace"
    )
    deadline = time.monotonic() + settings.event_timeout
    failed: dict[str, str] = {}
    running: dict[str, PluginProcess] = {}
    with interruptible():
        try:
            for name in plugins:
                try:
                    path = find("", name, settings.plugin_dir, on_path=False)
                    running[name] = PluginProcess(
                        [path], lines, environment(name, **ours), root or None
                    )
                except Refused as why:
                    failed[name] = str(why)
            for name, process in running.items():
                complaint = _complaint(process, deadline, settings.event_timeout)
                if complaint:
                    failed[name] = complaint
        finally:
            for process in running.values():
                process.end()
    return [(name, failed[name]) for name in plugins if name in failed]


def _complaint(process: PluginProcess, deadline: float, timeout: float) -> str:
    """Why a plugin has failed; empty if it has not. Of one that refuses, its own words."""
    try:
        code, said = process.outcome(len, deadline, MOST_OUTPUT)
    except Refused as why:
        return f"did not end within {timeout:g} s (event_timeout)" if str(why) == LATE else str(why)
    return said if code == 1 and said else PluginProcess.failure(code, said)
