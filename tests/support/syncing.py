"""Stores that sync with a hub, in one process."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import postgres
from hubs import a_hub
from new_stores import new_store

from pylore.app import Engine
from pylore.core.settings import Settings
from pylore.hub.connection import Hub, connect
from pylore.hub.sync import HubSync, Takes, lines_of
from pylore.store import Store

ALL = Takes("staged")


class Team:
    """A hub in a new database, and stores of people who sync with the hub."""

    def __init__(self, server: postgres.Server, folder: str) -> None:
        self.server = server
        self.database = a_hub(server)
        self.folder = folder
        self.hub = self.connected()
        self._engines: dict[str, Engine] = {}

    def connected(self, **where: Any) -> Hub:
        return connect(self.server.url(self.database, **where), "team")

    def store(self, name: str) -> Store:
        return self.engine(name).store

    def engine(self, name: str) -> Engine:
        if name not in self._engines:
            folder = os.path.join(self.folder, name)
            settings = Settings.load(environ={}, flags={"embedder": "none"})
            self._engines[name] = Engine(new_store(folder), settings, folder)
        return self._engines[name]

    def sync(self, name: str, takes: Takes = ALL, *, user: str = "", **options: Any) -> HubSync:
        hub = self.connected(user=user) if user else self.hub
        return HubSync(self.engine(name), hub, takes, **options).run()

    def close(self) -> None:
        self.hub.connection.close()
        for engine in self._engines.values():
            engine.store.close()


def team(server: postgres.Server, folder: object) -> closing[Team]:
    return closing(Team(server, str(folder)))


def told(store: Store) -> list[str]:
    """All that a store would tell a hub, sorted."""
    return sorted(line for *_, line in lines_of(store, ALL))
