"""Where a hub is, and what libpq is told of it.

What libpq takes a connection from counts: PGSERVICE, PGPASSFILE and ~/.pgpass, several hosts in
one URL. A password in a URL is refused: it would stand in a config file and in the list of
processes.
"""

from __future__ import annotations

import os

from ...core.errors import UsageError
from .faults import driver

CONNECT_SECONDS = 10
"""Seconds for each host, unless the URL or PGCONNECT_TIMEOUT says otherwise."""

_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "sslpassword")
_SHOWN = (
    "service", "host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs",
)  # fmt: skip
_KEPT_ALIVE = {
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}  # fmt: skip


def options_of(url: str) -> dict[str, str]:
    """What a URL says, by the names of libpq's parameters.

    Raises:
        UsageError: it is no URL of PostgreSQL, or there is a password in it.
    """
    if not url.startswith(_SCHEMES):
        raise UsageError(f"'{shown(url)}' is no hub: give postgresql://[user@]host[:port]/database "
                         "or postgresql://?service=NAME")  # fmt: skip
    psycopg2 = driver()
    try:
        found: dict[str, str] = psycopg2.extensions.parse_dsn(url)
    except psycopg2.Error as error:
        said = str(error).strip().splitlines()[0] if "@" not in str(error) else "is not a URL"
        raise UsageError(f"'{shown(url)}': {said}") from None
    if any(name in found for name in _SECRETS):
        raise UsageError(f"'{shown(url)}' has a password in it: put that into ~/.pgpass (mode "
                         "0600), and leave it out of the URL")  # fmt: skip
    return found


def shown(url: str) -> str:
    """A URL as messages show it: with what says where, and nothing that may be secret.

    >>> shown("postgresql://ann:secret@db.example/team?password=x&sslmode=require")
    'postgresql://ann@db.example/team?sslmode=require'
    """
    front, _, query = url.partition("?")
    scheme, mark, rest = front.rpartition("://")
    before, at, place = rest.rpartition("@")
    front = f"{scheme}{mark}{before.partition(':')[0]}{at}{place}" or front
    rest = "&".join(part for part in query.split("&") if part.partition("=")[0] in _SHOWN)
    return f"{front}?{rest}" if rest else front


def is_local(options: dict[str, str]) -> bool:
    """Whether all hosts are this machine."""
    hosts = options.get("hostaddr") or options.get("host") or ""
    return all(
        host in ("", "localhost", "::1") or host.startswith(("/", "@", "127."))
        for host in hosts.split(",")
    )


def with_defaults(asked: dict[str, str], *, writes: bool) -> dict[str, str]:
    """What is asked for, and what is lore's own default beside it."""
    service = _service(asked.get("service") or os.environ.get("PGSERVICE", ""))
    said = {**_from_environment(), **service, **asked}
    found = {**_KEPT_ALIVE, "fallback_application_name": "lore"}
    if "connect_timeout" not in said:
        found["connect_timeout"] = str(CONNECT_SECONDS)
    if not is_local(said):
        if "sslmode" not in said:
            found["sslmode"] = "verify-full"
        if "sslrootcert" not in said and found.get("sslmode") and not _has_root():
            found["sslrootcert"] = "system"
    if writes and "," in said.get("host", "") and "target_session_attrs" not in said:
        found["target_session_attrs"] = "read-write"
    return {**found, **asked, "client_encoding": "UTF8"}


def _from_environment() -> dict[str, str]:
    names = {"PGHOST": "host", "PGHOSTADDR": "hostaddr", "PGSSLMODE": "sslmode",
             "PGSSLROOTCERT": "sslrootcert", "PGCONNECT_TIMEOUT": "connect_timeout",
             "PGTARGETSESSIONATTRS": "target_session_attrs"}  # fmt: skip
    return {name: os.environ[key] for key, name in names.items() if os.environ.get(key)}


def _service(name: str) -> dict[str, str]:
    """What the file of services says of one; libpq itself says so where there is none."""
    if not name:
        return {}
    places = [os.environ.get("PGSERVICEFILE") or os.path.expanduser("~/.pg_service.conf")]
    if os.environ.get("PGSYSCONFDIR"):
        places.append(os.path.join(os.environ["PGSYSCONFDIR"], "pg_service.conf"))
    for place in places:
        found: dict[str, str] = {}
        inside = False
        try:
            with open(place, encoding="utf-8", errors="replace") as file:
                for line in map(str.strip, file):
                    if line.startswith("["):
                        inside = line == f"[{name}]"
                        if inside:
                            found["service"] = name
                    elif inside and "=" in line and not line.startswith("#"):
                        key, _, value = line.partition("=")
                        found.setdefault(key.strip(), value.strip())
        except OSError:
            continue
        if found:
            del found["service"]
            return found
    return {}


def _has_root() -> bool:
    return os.path.exists(os.path.expanduser("~/.postgresql/root.crt"))
