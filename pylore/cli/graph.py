"""The graph's own commands: path, neighbors, hubs, orphans, relations, export."""

from __future__ import annotations

import click

COMMANDS: tuple[click.Command, ...] = ()
